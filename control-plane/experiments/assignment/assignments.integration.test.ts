import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { variantBucket } from '../../../shared/experiments/bucketing.ts';
import { documents } from '../../endpoints.ts';
import { createAnswerCheck } from '../../testing/answer-check.ts';
import type { Client } from '../../testing/client.ts';
import { startTestControlPlane } from '../../testing/test-control-plane.ts';
import { notOfTwin } from '../../../shared/testing/twin-rows.ts';
import type { TestControlPlane } from '../../testing/test-control-plane.ts';
import { readEnvelopes } from './testing/read-envelopes.ts';
import { client as logClient } from '../../../shared/nats/connection/client.ts';

let plane: TestControlPlane;
let client: Client;
let token: string;
let sourceToken: string;
let testToken: string;
let sourceId: string;
let ids: { experiment: string; control: string; green: string; banner: string };
const checkAnswer = createAnswerCheck(documents);
const query = '/collections/experimentVariants';
/** Maximum time until a published version takes effect, on a busy machine. */
const slow = { timeout: 45_000 };

beforeAll(async () => {
  plane = await startTestControlPlane();
  client = await plane.newAccount();
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await client.post(path, body);
    expect([path, answer.status, answer.body]).toEqual([path, 200, expect.anything()]);
    return answer.body.id as string;
  };
  token = (await client.post('/collections/experimentSettings', {})).body.token as string;
  sourceId = await made('/sources', { type: 'WebSource' });
  ({ token: sourceToken, testToken } = (await client.get(`/sources/${sourceId}/tokens`)).body);
  const experiment = await made('/collections/experiments', { name: 'Button', key: 'button' });
  const banner = await made('/collections/experiments', { name: 'Banner', key: 'banner', type: 'personalization' });
  ids = {
    experiment,
    banner,
    control: await made(query, { experimentId: experiment, name: 'Blue', isControl: true }),
    green: await made(query, {
      experimentId: experiment,
      name: 'Green',
      weight: 50,
      redirect: '/green',
      properties: { colour: 'green' },
    }),
  };
  await made(query, { experimentId: banner, name: 'All', isControl: true, properties: { title: 'Hello' } });
  for (const id of [experiment, banner]) await client.post(`/collections/experiments/${id}/start`);
  await client.publish();
  const isServed = async () => (await ask('someone', { track_impression: false })).body['in_experiment'] === true;
  await vi.waitUntil(isServed, slow);
});
afterAll(() => plane.stop());

type Body = Readonly<Record<string, unknown>>;

async function post(
  path: string,
  body: unknown,
  { baseUrl = plane.baseUrl, headers = {} }: { baseUrl?: string; headers?: Record<string, string> } = {},
): Promise<{ readonly status: number; readonly body: Body; readonly headers: Headers }> {
  const answer = await fetch(`${baseUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const value = (await answer.json()) as Body;
  checkAnswer('POST', path, answer.status, value);
  return { status: answer.status, body: value, headers: answer.headers };
}

function ask(visitorId: string, more: object = {}, options: Parameters<typeof post>[2] = {}): ReturnType<typeof post> {
  return post('/experiments/assignments/button', { token, visitor_id: visitorId, ...more }, options);
}

function personalize(visitorId: string): ReturnType<typeof post> {
  return post('/experiments/personalization', { token, visitor_id: visitorId });
}

/** The variant that the published algorithm assigns to a new visitor. */
function bucketed(visitorId: string): string {
  return variantBucket(ids.experiment, visitorId) < 5_000 ? ids.green : ids.control;
}

/** Id of a visitor, `<name>-<n>`, to whom the algorithm assigns `variantId`. */
function visitorWith(variantId: string, name: string): string {
  for (let index = 0; ; index += 1) if (bucketed(`${name}-${index}`) === variantId) return `${name}-${index}`;
}

const impressionsOf = async (visitorId: string, field: 'userId' | 'externalId' = 'userId') =>
  (await readEnvelopes(plane.log)).filter(({ body }) => body[field] === visitorId);

async function storedOf(visitorId: string): Promise<{ visitor_id: string; variant_id: string }[]> {
  const sql = `select visitor_id, variant_id from experiment_assignments t where visitor_id = ? and ${notOfTwin('t')}`;
  return plane.storage.fork().execute(sql, [visitorId]);
}

function addVisitor(id: string, mergedInto: string | null): Promise<unknown> {
  const sql = 'insert into visitors (account_id, id, merged_into) values (?, ?, ?)';
  return plane.storage.fork().execute(sql, [client.accountId, id, mergedInto]);
}

function addExternalId(value: string, visitorId: string): Promise<unknown> {
  const sql = `insert into visitor_identities (account_id, kind, value, visitor_id) values (?, 'external_id', ?, ?)`;
  return plane.storage.fork().execute(sql, [client.accountId, value, visitorId]);
}

test('assignment: the published algorithm decides the variant, and the answer has the specified fields', async () => {
  const visitor = visitorWith(ids.green, 'first');
  expect((await ask(visitor)).body).toEqual({
    success: true,
    in_experiment: true,
    experiment_id: ids.experiment,
    experiment_key: 'button',
    experiment_name: 'Button',
    variant_id: ids.green,
    variant_name: 'Green',
    is_control: false,
    type: 'ab',
    redirect: '/green',
  });
  const control = await ask(visitorWith(ids.control, 'first'));
  expect(control.body).toMatchObject({ variant_id: ids.control, is_control: true });
  expect(control.body).not.toHaveProperty('redirect');
});

test('assignment: fifty first calls at once store a single assignment, and one impression per call', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask('crowd')));
  expect(new Set(answers.map(({ body }) => body['variant_id']))).toEqual(new Set([bucketed('crowd')]));
  expect(await storedOf('crowd')).toEqual([{ visitor_id: 'crowd', variant_id: bucketed('crowd') }]);
  const impressions = await impressionsOf('crowd');
  expect(impressions).toHaveLength(50);
  expect(new Set(impressions.map(({ id }) => id)).size).toBe(50);
});

test('assignment: a request with a test key gets a variant, but no assignment is stored', async () => {
  const asked = await ask('tried', { token: testToken });
  expect(asked.body['variant_id']).toBe(bucketed('tried'));
  expect(await storedOf('tried')).toEqual([]);
  await ask('tried');
  expect(await storedOf('tried')).toEqual([{ visitor_id: 'tried', variant_id: bucketed('tried') }]);
});

test('impression: is an event that names the experiment and variant, and belongs to the source whose key asked', async () => {
  await ask('seen', { context: { url: 'https://example.com/page' } });
  await ask('seen', { token: sourceToken });
  await ask('seen', { token: testToken });
  const [own, live, tried] = await impressionsOf('seen');
  expect(own).toMatchObject({
    v: 1,
    kind: 'track',
    account: client.accountId,
    source: 'experiments',
    body: {
      event: '$experiment_impression',
      userId: 'seen',
      distinctId: own?.id,
      eventProperties: { experiment_id: ids.experiment, experiment_key: 'button', variant_id: bucketed('seen') },
      defaultProperties: { current_url: 'https://example.com/page' },
    },
  });
  expect(own).not.toHaveProperty('test');
  expect(JSON.stringify([own, live, tried])).not.toContain(token);
  expect(live?.source).not.toBe('experiments');
  expect(tried).toMatchObject({ source: live?.source, test: true });
});

test('impression: a request with an externalId records it for the person, and names no other visitor', async () => {
  const device = visitorWith(ids.green, 'device');
  const customer = visitorWith(ids.control, 'customer');
  await addVisitor(device, null);
  await addExternalId(customer, device);
  await ask(device);
  for (let times = 0; times < 2; times += 1) expect((await ask(customer)).body['variant_id']).toBe(ids.green);
  expect(await impressionsOf(customer)).toEqual([]);
  expect(await impressionsOf(customer, 'externalId')).toHaveLength(2);
  expect(await impressionsOf(device)).toHaveLength(1);
  await addVisitor('new-device', null);
  await addExternalId('new-customer', 'new-device');
  await ask('new-customer', { token: testToken });
  await ask('new-customer');
  expect(await storedOf('new-device')).toHaveLength(1);
  expect(await impressionsOf('new-customer', 'externalId')).toHaveLength(2);
});

test('impression: has the Global Privacy Control of the browser that asked', async () => {
  for (const [visitor, value] of [
    ['opted-out', '1'],
    ['not-opted-out', '0'],
  ] as const)
    await ask(visitor, {}, { headers: { 'sec-gpc': value } });
  const [on, off] = [await impressionsOf('opted-out'), await impressionsOf('not-opted-out')];
  expect(on.map(({ body }) => body['defaultProperties'])).toEqual([{ gpc: true }]);
  expect(off.map(({ body }) => body['defaultProperties'])).toEqual([undefined]);
});

test('impression: none is recorded if it is not requested, if the visitor is not assigned, or for a personalization', async () => {
  await ask('quiet', { track_impression: false });
  await post('/experiments/assignments/unknown', { token, visitor_id: 'quiet' });
  await personalize('quiet');
  expect(await impressionsOf('quiet')).toEqual([]);
});

test('flags: give the variant that each running experiment would assign, and store it without an impression', async () => {
  const flagsOf = async (visitorId: string, more: object = {}): Promise<unknown> =>
    (await post('/experiments/flags', { token, visitor_id: visitorId, ...more })).body;
  const green = visitorWith(ids.green, 'flagged');
  expect(await flagsOf(green)).toEqual({ success: true, flags: { button: 'Green', banner: 'All' } });
  expect((await ask(green, { track_impression: false })).body['variant_name']).toBe('Green');
  expect(await storedOf(green)).toContainEqual({ visitor_id: green, variant_id: ids.green });
  expect(await flagsOf(visitorWith(ids.control, 'flagged'), { keys: ['button', 'no such key'] })).toEqual({
    success: true,
    flags: { button: 'Blue' },
  });
  expect(await impressionsOf(green)).toEqual([]);
  await flagsOf('flagged-by-test-key', { token: testToken });
  expect(await storedOf('flagged-by-test-key')).toEqual([]);
  const unknown = await post('/experiments/flags', { token: 'exp_unknown', visitor_id: 'v' });
  const malformed = await post('/experiments/flags', { token, visitor_id: 'v', keys: 'button' });
  expect([unknown, malformed]).toMatchObject([401, 400].map((status) => ({ status, body: { success: false } })));
});

test('personalization: reads the stored assignments and writes nothing', async () => {
  const visitor = visitorWith(ids.green, 'reader');
  const always = {
    experiment_id: ids.banner,
    experiment_key: 'banner',
    experiment_name: 'Banner',
    variant_name: 'All',
  };
  expect((await personalize(visitor)).body).toEqual({
    success: true,
    properties: { title: 'Hello' },
    personalizations: [{ ...always, variant_id: expect.any(String), assigned_at: null }],
  });
  expect(await storedOf(visitor)).toEqual([]);
  await ask(visitor);
  const { body } = await personalize(visitor);
  expect(body).toMatchObject({ success: true, properties: { title: 'Hello', colour: 'green' } });
  expect(body['personalizations']).toEqual([
    expect.objectContaining(always),
    {
      experiment_id: ids.experiment,
      experiment_key: 'button',
      experiment_name: 'Button',
      variant_id: ids.green,
      variant_name: 'Green',
      assigned_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T.*Z$/),
    },
  ]);
});

test('failures: every body says success false', async () => {
  const body = { token, visitor_id: 'v' };
  const path = '/experiments/assignments/button';
  const failed = (status: number) => expect.objectContaining({ status, body: { success: false } });
  for (const bad of ['{', '[]', 'null', '{}', { ...body, visitor_id: '' }, { ...body, visitor_id: 3 }, { token }]) {
    expect(await post(path, bad)).toEqual(failed(400));
    expect(await post('/experiments/personalization', bad)).toEqual(failed(400));
  }
  expect(await post(path, { ...body, track_impression: 'yes' })).toEqual(failed(400));
  expect(await post(path, { ...body, context: { url: 1 } })).toEqual(failed(400));
  expect(await post(path, { ...body, token: 'exp_unknown' })).toEqual(failed(401));
  expect(await post('/experiments/personalization', { ...body, token: 'exp_unknown' })).toEqual(failed(401));
  expect(await post(path, 'x'.repeat(70_000))).toEqual(failed(413));
  expect(await post(path, body, { headers: { 'content-type': 'application/xml' } })).toEqual(failed(415));
});

test.each(['x'.repeat(2_000), 'a%00b', '%00', 'a%2Fb', '__proto__', '%F0%9F%8E%89'.repeat(400)])(
  'experiment keys: a visitor is never in an unknown experiment, whatever its name: %s',
  async (key) => {
    const answer = await post(`/experiments/assignments/${key}`, { token, visitor_id: 'v' });
    expect(answer).toMatchObject({ status: 200, body: { success: true, in_experiment: false } });
  },
);

test.each(['%FF%FE', '%ED%A0%80', '%E0%A4%A'])('experiment keys: an undecodable key is malformed: %s', async (key) => {
  expect(await post(`/experiments/assignments/${key}`, { token, visitor_id: 'v' })).toMatchObject({
    status: 400,
    body: { success: false },
  });
});

test.each(['a\0b', '\0', '\ud800'])('visitors: an id that cannot be stored is malformed: %j', async (visitor) => {
  for (const path of ['/experiments/assignments/button', '/experiments/personalization']) {
    const answer = await post(path, { token, visitor_id: visitor });
    expect(answer).toMatchObject({ status: 400, body: { success: false } });
  }
});

test('visitors: a placeholder or a blocked value is no visitor: in no experiment, and nothing is recorded of it', async () => {
  const expectNobody = async (visitor: string): Promise<void> => {
    const out = { success: true, in_experiment: false };
    await expect.poll(async () => (await ask(visitor, { track_impression: false })).body, slow).toEqual(out);
    expect((await ask(visitor)).body).toEqual(out);
    expect((await ask(visitor, { token: sourceToken })).body).toEqual(out);
    expect((await personalize(visitor)).body).toEqual({ success: true, properties: {}, personalizations: [] });
    const flags = await post('/experiments/flags', { token, visitor_id: visitor });
    expect(flags.body).toEqual({ success: true, flags: { button: false, banner: false } });
    expect(await impressionsOf(visitor)).toEqual([]);
  };
  for (const visitor of ['anonymous', ' Guest ', '{{visitor.id}}']) {
    await expectNobody(visitor);
    expect(await storedOf(visitor)).toEqual([]);
  }
  expect((await ask('kiosk', { track_impression: false })).body).toMatchObject({ in_experiment: true });
  const blocked = await client.patch('/account', { identity: { blockedValues: ['Kiosk'] } });
  expect(blocked.status).toBe(200);
  await expectNobody('kiosk');
});

test('source keys: the whitelists of their source apply, and the key of a disabled source is refused', async () => {
  const set = async (fields: object): Promise<void> => {
    expect((await client.patch(`/sources/${sourceId}`, fields)).status).toBe(200);
    await client.publish();
  };
  const status = async (headers: Record<string, string> = {}, at = plane.baseUrl): Promise<number> =>
    (await ask('lister', { token: sourceToken }, { baseUrl: at, headers })).status;
  await set({ whitelistDomains: ['example.com'], whitelistIps: ['198.51.100.0/24'] });
  await expect.poll(() => status(), slow).toBe(403);
  const { baseUrl } = await plane.startAnother({ TRUSTED_PROXIES: '127.0.0.1' });
  const from = { 'x-forwarded-for': '198.51.100.7' };
  await expect.poll(() => status(from, baseUrl), slow).toBe(200);
  expect(await status(from)).toBe(403);
  expect(await status({ ...from, origin: 'https://other.com' }, baseUrl)).toBe(403);
  expect((await ask('lister')).status).toBe(200);
  await set({ status: 'Disabled', whitelistDomains: null, whitelistIps: null });
  await expect.poll(() => status(), slow).toBe(401);
  await set({ status: 'Enabled' });
  await expect.poll(() => status(), slow).toBe(200);
});

test('browsers: may send requests from any page, also as a beacon', async () => {
  const headers = { 'content-type': 'text/plain;charset=UTF-8', origin: 'https://example.com' };
  const beacon = await ask('beacon', {}, { headers });
  expect([beacon.status, beacon.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
  const preflight = await fetch(`${plane.baseUrl}/experiments/personalization`, {
    method: 'OPTIONS',
    headers: { 'access-control-request-headers': 'content-type,sentry-trace,baggage' },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-headers')).toBe('content-type, sentry-trace, baggage');
});

test('merged visitors: every id of one visitor has its earliest assignment', async () => {
  const survivor = visitorWith(ids.control, 'merged');
  const alias = visitorWith(ids.green, 'merged');
  await ask(alias);
  await addVisitor(survivor, null);
  await addVisitor(alias, survivor);
  expect((await ask(survivor)).body['variant_id']).toBe(ids.green);
  expect(await storedOf(survivor)).toEqual([]);
});

test('erased visitors: their assignments are deleted, and a visitor who comes back is treated as new', async () => {
  await addVisitor('gone', null);
  await ask('gone');
  expect(await storedOf('gone')).toHaveLength(1);
  expect((await client.delete('/visitors/gone')).status).toBe(200);
  expect(await storedOf('gone')).toEqual([]);
  const another = await plane.startAnother();
  expect((await ask('gone', {}, another)).body).toMatchObject({ in_experiment: true, variant_id: bucketed('gone') });
  expect([(await storedOf('gone')).length, (await impressionsOf('gone')).length]).toEqual([1, 2]);
});

test('erased visitors: a visitor whose identifiers are suppressed joins no experiment again', async () => {
  await addVisitor('suppressed', null);
  expect((await client.delete('/visitors/suppressed?suppress=true')).status).toBe(200);
  expect((await ask('suppressed')).body).toEqual({ success: true, in_experiment: false });
  expect([await storedOf('suppressed'), await impressionsOf('suppressed')]).toEqual([[], []]);
});

test('erased visitors: an assignment is deleted even if the visitor had no event yet', async () => {
  await ask('eventless', { track_impression: false });
  expect((await client.delete('/visitors/eventless')).body).toMatchObject({ deleted: true, ids: ['eventless'] });
  expect(await storedOf('eventless')).toEqual([]);
  expect((await client.delete('/visitors/eventless')).status).toBe(404);
  expect((await client.delete('/visitors/event%00less')).status).toBe(404);
});

test('a log that accepts nothing: the answer is 503, because an impression would be lost', async () => {
  const { streams } = plane.log[logClient].jsm;
  const { config } = await streams.info('INGEST');
  await streams.update('INGEST', { ...config, max_bytes: 1 });
  const refused = await ask('unlucky');
  await streams.update('INGEST', config);
  expect([refused.status, refused.body]).toEqual([503, { success: false }]);
  expect(refused.headers.get('retry-after')).toBe('1');
  expect((await ask('unlucky')).body['variant_id']).toBe(bucketed('unlucky'));
  expect(await impressionsOf('unlucky')).toHaveLength(1);
});

test('sticky: visitors keep their variant after weights and allocation change, even after a restart', async () => {
  const visitor = visitorWith(ids.green, 'sticky');
  await ask(visitor);
  await client.patch(`${query}/${ids.green}`, { weight: 0 });
  await client.patch(`/collections/experiments/${ids.experiment}`, { trafficAllocation: 0 });
  await client.publish();
  await expect.poll(async () => (await ask('newcomer')).body['in_experiment'], slow).toBe(false);
  expect((await ask(visitor)).body['variant_id']).toBe(ids.green);
  const another = await plane.startAnother();
  expect((await ask(visitor, {}, another)).body['variant_id']).toBe(ids.green);
});

test('lifecycle: a paused experiment keeps old assignments, a completed experiment assigns visitors only by a rollout', async () => {
  const visitor = visitorWith(ids.green, 'sticky');
  const path = `/collections/experiments/${ids.experiment}`;
  const step = async (kind: string, body?: object): Promise<void> => {
    expect((await client.post(`${path}/${kind}`, body)).status).toBe(200);
    await client.publish();
  };
  await client.patch(path, { trafficAllocation: 100 });
  expect((await ask(visitor)).body['variant_id']).toBe(ids.green);
  await step('pause');
  expect((await ask(visitor)).body['variant_id']).toBe(ids.green);
  expect((await ask('late')).body['in_experiment']).toBe(false);
  await step('stop');
  await expect.poll(async () => (await ask(visitor)).body['in_experiment'], slow).toBe(false);
  await step('rollout', { variantId: ids.green });
  await expect.poll(async () => (await ask('late')).body['variant_id'], slow).toBe(ids.green);
  expect(await storedOf('late')).toEqual([]);
  await addVisitor('rolled-device', null);
  await addExternalId('rolled-customer', 'rolled-device');
  for (const id of ['rolled-customer', 'rolled-customer', 'rolled-device']) await ask(id);
  expect(await impressionsOf('rolled-customer', 'externalId')).toHaveLength(2);
  expect([await impressionsOf('rolled-customer'), await impressionsOf('rolled-device')]).toMatchObject([[], [{}]]);
});

test('settings: pages of other domains are refused, and experiments can be disabled', async () => {
  const { body } = await client.get('/collections/experimentSettings');
  const path = `/collections/experimentSettings/${body.entities[0].id}`;
  await client.patch(path, { whitelistDomains: ['example.com'] });
  await client.publish();
  const from = (origin: string) => ask('late', {}, { headers: { origin } });
  await expect.poll(async () => (await from('https://other.com')).status, slow).toBe(403);
  expect((await from('https://www.example.com')).status).toBe(200);
  expect((await ask('late')).status).toBe(200);
  await client.patch(path, { isEnabled: false });
  await client.publish();
  await expect.poll(async () => (await ask('late')).body, slow).toEqual({ success: true, in_experiment: false });
});
