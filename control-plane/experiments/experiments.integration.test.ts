import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer, Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;
let client: Client;

beforeAll(async () => {
  plane = await startTestControlPlane();
  client = await plane.newAccount();
});
afterAll(() => plane.stop());

const experimentsPath = '/collections/experiments';
const variantsPath = '/collections/experimentVariants';

async function newExperiment(key: string, fields: object = {}): Promise<string> {
  return (await client.post(experimentsPath, { name: key, key, ...fields })).body.id as string;
}

function addVariant(experimentId: string, fields: object): Promise<Answer> {
  return client.post(variantsPath, { experimentId, name: 'variant', ...fields });
}

function step(id: string, kind: string, body?: unknown): Promise<Answer> {
  return client.post(`${experimentsPath}/${id}/${kind}`, body);
}

const refused = (field: string) => ({ status: 400, body: { error: expect.stringMatching(new RegExp(`^${field} `)) } });

test('variants: an experiment has one control, and weights of at most 100 percent in total', async () => {
  const id = await newExperiment('together');
  const control = await addVariant(id, { isControl: true });
  expect(control.body).toMatchObject({ isControl: true, weight: null });
  expect(await addVariant(id, { isControl: true })).toMatchObject(refused('isControl'));
  const first = await addVariant(id, { weight: 60 });
  expect(await addVariant(id, { weight: 41 })).toMatchObject(refused('weight'));
  const second = await addVariant(id, { weight: 40 });
  expect(second.status).toBe(200);
  const path = `${variantsPath}/${first.body.id}`;
  expect(await client.patch(path, { weight: 60.01 })).toMatchObject(refused('weight'));
  expect(await client.patch(path, { isControl: true })).toMatchObject(refused('isControl'));
  expect((await client.patch(path, { weight: 10 })).body.weight).toBe(10);
});

test('variants: a started experiment keeps its variants and its control', async () => {
  const id = await newExperiment('started');
  const control = (await addVariant(id, { isControl: true })).body.id as string;
  const other = (await addVariant(id, { weight: 50 })).body.id as string;
  const spare = (await addVariant(id, { weight: 10 })).body.id as string;
  expect((await client.delete(`${variantsPath}/${spare}`)).status).toBe(200);
  expect((await step(id, 'start')).status).toBe(200);
  expect(await client.delete(`${variantsPath}/${other}`)).toMatchObject(refused('id'));
  expect(await client.patch(`${variantsPath}/${control}`, { isControl: false })).toMatchObject(refused('isControl'));
  expect((await client.patch(`${variantsPath}/${other}`, { weight: 20 })).status).toBe(200);
});

test('variants: concurrent additions cannot make two controls', async () => {
  const id = await newExperiment('race');
  const answers = await Promise.all(Array.from({ length: 8 }, () => addVariant(id, { isControl: true })));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
});

test('lifecycle: each step answers with the experiment and says when the step takes effect', async () => {
  const id = await newExperiment('life');
  expect(await step(id, 'start')).toMatchObject(refused('variants'));
  await addVariant(id, { isControl: true });
  const variantId = (await addVariant(id, { weight: 50 })).body.id as string;
  expect(await step(id, 'pause')).toMatchObject(refused('status'));
  const started = await step(id, 'start');
  expect(started).toMatchObject({ status: 200, body: { id, status: 'Running', takesEffect: 'nextVersion' } });
  const version = await client.publish();
  const { jsonContent } = (await client.get(`/versions/${version.id}/snapshot`)).body;
  expect(jsonContent.experiments).toContainEqual(expect.objectContaining({ id, status: 'Running' }));
  expect((await step(id, 'pause')).body).toMatchObject({ status: 'Paused', takesEffect: 'nextVersion' });
  expect((await step(id, 'resume')).body).toMatchObject({ status: 'Running', takesEffect: 'now' });
  expect(await step(id, 'rollout', { variantId: 'unknown' })).toMatchObject(refused('rolloutVariantId'));
  expect(await step(id, 'rollout', {})).toMatchObject(refused('variantId'));
  const rolledOut = await step(id, 'rollout', { variantId });
  expect(rolledOut.body).toMatchObject({ status: 'Completed', rolloutVariantId: variantId });
  expect((await step(id, 'stop')).body).toMatchObject({ status: 'Completed', rolloutVariantId: null });
  expect(await step(id, 'start')).toMatchObject(refused('status'));
  expect((await client.patch(`${experimentsPath}/${id}`, { status: 'Draft' })).body.status).toBe('Completed');
});

test('lifecycle: an experiment can be paused although a restored one has its key, and no other can take the key', async () => {
  const id = await newExperiment('twice');
  for (const fields of [{ isControl: true }, { weight: 50 }]) await addVariant(id, fields);
  await step(id, 'start');
  const restored = await newExperiment('restored');
  await plane.storage
    .fork()
    .execute(`update entities set body = body || '{"key":"twice"}' where account_id = ? and id = ?`, [
      client.accountId,
      restored,
    ]);
  expect((await step(id, 'pause')).body).toMatchObject({ status: 'Paused' });
  expect((await client.post(experimentsPath, { name: 'third', key: 'twice' })).status).toBe(409);
  // Later tests publish the account.
  expect((await client.delete(`${experimentsPath}/${restored}`)).status).toBe(200);
});

test('rollback: revertDraft makes an experiment that the replaced version started a draft again, unless it was edited since', async () => {
  const before = await client.publish();
  const [started, edited] = [await newExperiment('rolled-back'), await newExperiment('edited-since')];
  const variants: string[] = [];
  for (const id of [started, edited]) {
    for (const fields of [{ isControl: true }, { weight: 50 }]) variants.push((await addVariant(id, fields)).body.id);
    await step(id, 'start');
  }
  await client.publish();
  await step(edited, 'pause');
  const { body } = await client.post(`/versions/${before.id}/publish`, { revertDraft: true });
  expect(body.draftReverted).toMatchObject({ keptCount: 1 });
  expect((await client.get(`${experimentsPath}/${started}`)).body).toMatchObject({ status: 'Draft', startedAt: null });
  expect((await client.get(`${experimentsPath}/${edited}`)).body.status).toBe('Paused');
  for (const id of variants) expect((await client.get(`${variantsPath}/${id}`)).status).toBe(200);
});

test('lifecycle: a step needs its scope, and an experiment of the account', async () => {
  const id = await newExperiment('scope');
  const reader = await plane.newKey(client, ['experiments:find']);
  expect((await reader.post(`${experimentsPath}/${id}/start`)).status).toBe(403);
  const stranger = await plane.newAccount();
  expect((await stranger.post(`${experimentsPath}/${id}/start`)).status).toBe(404);
});

const addVisitors = (sql: string, values: readonly unknown[]): Promise<unknown> =>
  plane.storage.fork().execute(
    `insert into experiment_visitors (account_id, experiment_id, visitor_id, variant_id, exposed_at, metric, converted_at)
      ${sql}`,
    [...values],
  );

test('results: show visitors and conversions of each variant, and warn if visitors are not spread by the weights', async () => {
  const id = await newExperiment('measured', { primaryMetric: { event: 'Purchase' } });
  const path = `/experiments/${id}/results`;
  const control = (await addVariant(id, { name: 'Old', isControl: true })).body.id as string;
  const other = (await addVariant(id, { name: 'New', weight: 50 })).body.id as string;
  expect((await client.get(path)).body).toMatchObject({ status: 'Draft', visitors: 0, sampleRatio: null });
  await step(id, 'start');
  await client.publish();
  const seen = `select ?, ?, ? || n, ?, '2026-01-02', 'Purchase',
    case when n <= ? then timestamptz '2026-01-03' when n <= 100 then '2026-01-01' end from generate_series(1, ?) n`;
  await addVisitors(seen, [client.accountId, id, 'o-', control, 30, 300]);
  await addVisitors(seen, [client.accountId, id, 'n-', other, 60, 300]);
  const { body } = await client.get(path);
  expect(body).toMatchObject({
    key: 'measured',
    status: 'Running',
    confidencePercent: 95,
    visitors: 600,
    conversions: 90,
  });
  expect(body.variants).toMatchObject([
    {
      id: other,
      name: 'New',
      isControl: false,
      expectedShare: 50,
      visitors: 300,
      conversions: 60,
      conversionRate: 0.2,
    },
    { id: control, isControl: true, expectedShare: 50, visitors: 300, conversions: 30, conversionRate: 0.1 },
  ]);
  expect(body.sampleRatio).toEqual({ chiSquare: 0, degreesOfFreedom: 1, pValue: 1, isMismatch: false });
  await addVisitors(seen, [client.accountId, id, 'more-', other, 0, 120]);
  const uneven = (await client.get(`${path}?confidencePercent=99`)).body;
  expect(uneven).toMatchObject({ confidencePercent: 99, visitors: 720, sampleRatio: { isMismatch: true } });
  expect(uneven.variants[1].confidenceInterval.low).toBeLessThan(body.variants[1].confidenceInterval.low);
  expect((await client.get(`${path}?confidencePercent=100`)).status).toBe(400);
});

test('results: belong to the account, need the scope, and leave erased visitors out', async () => {
  const id = await newExperiment('private');
  const variant = (await addVariant(id, { isControl: true })).body.id as string;
  await addVisitors(`values (?, ?, 'gone', ?, now(), null, null)`, [client.accountId, id, variant]);
  expect((await client.get(`/experiments/${id}/results`)).body.visitors).toBe(1);
  expect((await client.delete('/visitors/gone')).status).toBe(200);
  expect((await client.get(`/experiments/${id}/results`)).body.visitors).toBe(0);
  expect((await (await plane.newAccount()).get(`/experiments/${id}/results`)).status).toBe(404);
  expect((await (await plane.newKey(client, ['experiments:list'])).get(`/experiments/${id}/results`)).status).toBe(403);
});
