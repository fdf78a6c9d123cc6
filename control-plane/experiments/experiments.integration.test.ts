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

test('variants: one control, and weights of at most 100 percent', async () => {
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

test('variants: of an experiment that has started stay, and the control stays the control', async () => {
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

test('lifecycle: each step answers the experiment and when it takes effect', async () => {
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
  expect(await step(id, 'rollout', { variantId: 'nobody' })).toMatchObject(refused('rolloutVariantId'));
  expect(await step(id, 'rollout', {})).toMatchObject(refused('variantId'));
  const rolledOut = await step(id, 'rollout', { variantId });
  expect(rolledOut.body).toMatchObject({ status: 'Completed', rolloutVariantId: variantId });
  expect((await step(id, 'stop')).body).toMatchObject({ status: 'Completed', rolloutVariantId: null });
  expect(await step(id, 'start')).toMatchObject(refused('status'));
  expect((await client.patch(`${experimentsPath}/${id}`, { status: 'Draft' })).body.status).toBe('Completed');
});

test('lifecycle: needs the scope, and an experiment of the account', async () => {
  const id = await newExperiment('scope');
  const reader = await plane.newKey(client, ['experiments:find']);
  expect((await reader.post(`${experimentsPath}/${id}/start`)).status).toBe(403);
  const stranger = await plane.newAccount();
  expect((await stranger.post(`${experimentsPath}/${id}/start`)).status).toBe(404);
});
