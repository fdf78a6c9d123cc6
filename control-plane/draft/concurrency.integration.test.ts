import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;

beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane.stop());

const settings = { httpDestinationUrl: 'https://example.com/' };
const writers = Array.from({ length: 50 }, (_, index) => index);
const newDestination = async (client: Client): Promise<string> =>
  (await client.post('/destinations', { type: 'HTTPDestination', settings })).body.id as string;

test('50 writers on one entity: no write of a field undoes the write of another field', async () => {
  const client = await plane.newAccount();
  const id = await newDestination(client);
  const { body: source } = await client.post('/sources', { type: 'NodejsApi' });
  const fields = [
    { name: 'written' },
    { hashingSalt: 'salt' },
    { limitedToSourceIds: [source.id] },
    { status: 'Disabled' },
    { settings: { method: 'PUT' } },
    { settings: { headers: '{"A":"b"}' } },
    { settings: { batchSize: '5' } },
  ];
  const answers = await Promise.all(
    writers.map((index) => client.patch(`/destinations/${id}`, fields[index % fields.length])),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect((await client.get(`/destinations/${id}`)).body).toMatchObject({
    name: 'written',
    hashingSalt: 'salt',
    limitedToSourceIds: [source.id],
    status: 'Disabled',
    settings: { ...settings, method: 'PUT', headers: '********', batchSize: '5' },
  });
});

test('50 writers on different entities, with versions, publishes and reverts between: nothing fails, nothing is lost', async () => {
  const client = await plane.newAccount();
  const ids = await Promise.all(writers.map(() => newDestination(client)));
  const { body: first } = await client.post('/versions');
  const work = ids.flatMap((id, index) => [
    client.patch(`/destinations/${id}`, { name: `name ${index}` }),
    ...(index % 10 === 0 ? [client.post('/versions'), client.post(`/versions/${first.id}/publish`)] : []),
    ...(index % 25 === 0 ? [client.post('/versions/draft/revert', { entities: [] })] : []),
    client.post('/sources', { type: 'NodejsApi', name: `source ${index}` }),
  ]);
  const answers = await Promise.all(work);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const { body } = await client.get('/destinations?limit=100');
  const names = body.entities.map(({ name }: { name: string }) => name).sort();
  expect(names).toEqual(writers.map((index) => `name ${index}`).sort());
  expect((await client.get('/sources?limit=100')).body.entities).toHaveLength(50);
});

test('versions made at once by two control planes: their numbers have no gaps', async () => {
  const client = await plane.newAccount();
  const second = await plane.startAnother();
  const create = async (index: number): Promise<number> => {
    const base = index % 2 === 0 ? plane.baseUrl : second.baseUrl;
    const headers = { authorization: `Bearer ${client.key}` };
    const answer = await fetch(`${base}/rest/v1/versions`, { method: 'POST', headers });
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { versionNumber: number }).versionNumber;
  };
  const numbers = await Promise.all(writers.map(create));
  expect(numbers.sort((a, b) => a - b)).toEqual(writers.map((index) => index + 1));
  await second.stop();
});

test('publishes at once: are done one after the other, and exactly one version is live', async () => {
  const client = await plane.newAccount();
  const versions = await Promise.all(
    writers.slice(0, 10).map(async () => (await client.post('/versions')).body.id as string),
  );
  const answers = await Promise.all(versions.map((id) => client.post(`/versions/${id}/publish`)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const { body } = await client.get('/versions?limit=100');
  const live = body.entities.filter(({ isPublished }: { isPublished: boolean }) => isPublished);
  expect(live).toHaveLength(1);
  const newest = body.entities
    .map((one: { publishedAt: string }) => one.publishedAt)
    .sort()
    .at(-1);
  expect(live[0].publishedAt).toBe(newest);
});

test('50 creates of one unique name: one is accepted, the others get a 409', async () => {
  const client = await plane.newAccount();
  const answers = await Promise.all(writers.map(() => client.post('/collections/allowedEvents', { name: 'Same' })));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  expect(statuses.filter((status) => status === 409)).toHaveLength(49);
});

test('deletes at once: one gets the answer true, the others get a 404', async () => {
  const client = await plane.newAccount();
  const id = await newDestination(client);
  const answers = await Promise.all(writers.map(() => client.delete(`/destinations/${id}`)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 404)).toHaveLength(49);
});
