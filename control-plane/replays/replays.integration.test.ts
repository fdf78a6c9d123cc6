import { randomUUID } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { sampleEvent } from '../../shared/destinations/sdk/sample-event.ts';
import { encodeDeadLetter } from '../../shared/contracts/events/dead-letter.ts';
import type { Exchange } from '../../shared/contracts/events/exchange.ts';
import { announceErasure } from '../../shared/testing/announce-erasure.ts';
import { readAt } from '../../shared/nats/messages/subject-log.ts';
import { streams } from '../../shared/nats/streams/topology.ts';
import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import type { Buckets } from '../../shared/nats/buckets/open-buckets.ts';
import { publish } from '../../shared/nats/publish/publisher.ts';
import { deadLetterSubject } from '../../shared/contracts/subjects.ts';
import { decodeReplay, encodeReplay, replayKey } from '../../shared/contracts/replay-job.ts';
import type { ReplayJob } from '../../shared/contracts/replay-job.ts';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;
let buckets: Buckets;
let client: Client;
/** Path of a destination that is live. */
let path: string;
let destinationId: string;

beforeAll(async () => {
  plane = await startTestControlPlane();
  buckets = await openBuckets(plane.log, 1);
});
beforeEach(async () => {
  client = await plane.newAccount();
  const settings = { httpDestinationUrl: 'https://example.com/events' };
  const { body } = await client.post('/destinations', { type: 'HTTPDestination', settings });
  destinationId = body.id;
  path = `/destinations/${destinationId}`;
});
afterAll(() => plane.stop());

const firstMs = Date.parse('2026-03-01T00:00:00Z');
const minute = (n: number): string => new Date(firstMs + n * 60_000).toISOString();

const exchange: Exchange = {
  request: {
    method: 'POST',
    url: 'https://example.com/events',
    headers: {},
    body: '{"email":"ann@example.com"}',
    events: 1,
  },
  answer: {
    status: 400,
    code: 'no',
    message: 'no email',
    headers: { 'x-request-id': 'r-1' },
    body: 'no email of ann@example.com',
  },
};

async function bury(n: number, reason: string, visitorId = 'sample-visitor'): Promise<void> {
  const sample = sampleEvent({ id: `e${n}`, event: 'Order' });
  const letter = encodeDeadLetter({
    v: 1,
    destinationId,
    reason,
    attempts: n + 1,
    firstAttemptAt: firstMs,
    lastAttemptAt: firstMs + n * 60_000,
    ...(n === 0 ? {} : { request: { method: 'POST', host: 'example.com', status: 400 } }),
    // Dead letters of earlier builds have no `exchange`.
    ...(n === 4 ? { exchange } : {}),
    event: { ...sample, visitor: { ...sample.visitor, id: visitorId } },
  });
  await publish(plane.log, deadLetterSubject(destinationId), letter, { msgId: randomUUID(), timeoutMs: 30_000 });
}

async function store(job: ReplayJob): Promise<void> {
  await buckets.replays.put(replayKey(destinationId, job.id), encodeReplay(job));
}

async function find(id: string): Promise<ReplayJob | undefined> {
  return decodeReplay((await buckets.replays.get(replayKey(destinationId, id)))?.value);
}

test('dead letters: where the account masks, a key without pii:read sees the shape of an order id only', async () => {
  await bury(0, 'status 400');
  const reader = await plane.newKey(client, ['destination:find']);
  const orderIds = async (of: Client): Promise<readonly string[]> => {
    const { body: listed } = await of.get(`${path}/dead-letters?limit=1`);
    const { body: letter } = await of.get(`${path}/dead-letters/${listed.entities[0].seq}`);
    return [listed.entities[0].event.orderId, letter.event.orderId];
  };
  await client.patch('/account', { masksPersonalData: true });
  expect([await orderIds(reader), await orderIds(client)]).toEqual([
    ['A-9999', 'A-9999'],
    ['A-1001', 'A-1001'],
  ]);
});

test('dead letters: are listed newest first, page by page, and filtered by reason and time', async () => {
  for (let n = 0; n < 5; n += 1) await bury(n, n % 2 === 0 ? 'status 400' : 'status 500');
  const { body: first } = await client.get(`${path}/dead-letters?limit=2`);
  expect(first.entities).toMatchObject([{ event: { id: 'e4' } }, { event: { id: 'e3' } }]);
  expect(first.entities[0]).toEqual({
    seq: expect.any(Number),
    event: { id: 'e4', name: 'Order', time: 1_700_000_000_000, visitorId: 'sample-visitor', orderId: 'A-1001' },
    reason: 'status 400',
    attempts: 5,
    firstAttemptAt: minute(0),
    lastAttemptAt: minute(4),
    request: { method: 'POST', host: 'example.com', status: 400 },
    error: { status: 400, code: 'no', message: 'no email' },
  });
  expect(first.entities[1].error).toBeNull();
  const { cursor, rest } = { cursor: first.pagination.nextCursor as string, rest: `${path}/dead-letters?limit=50` };
  const { body: others } = await client.get(`${rest}&cursor=${cursor}`);
  const idsOf = (body: { entities: { event: { id: string } }[] }): string =>
    body.entities.map(({ event }) => event.id).join(' ');
  expect([idsOf(others), others.pagination]).toEqual(['e2 e1 e0', { nextCursor: null, hasMore: false }]);
  expect(others.entities.at(-1).request).toBeNull();
  expect(idsOf((await client.get(`${rest}&reason=status+500`)).body)).toBe('e3 e1');
  expect(idsOf((await client.get(`${rest}&message=no%20email`)).body)).toBe('e4');
  expect(idsOf((await client.get(`${rest}&from=${minute(1)}&to=${minute(3)}`)).body)).toBe('e2 e1');
  expect((await client.get(`${rest}&reason=other&cursor=${cursor}`)).status).toBe(400);
});

test('dead letter: is read with its request and answer, only at its own destination, and is deleted once its visitor is erased', async () => {
  const visitorId = randomUUID();
  await bury(3, 'status 400');
  await bury(4, 'status 400', visitorId);
  const { body: listed } = await client.get(`${path}/dead-letters`);
  const [{ seq }, { seq: before }] = listed.entities as [{ seq: number }, { seq: number }];
  const { body: letter } = await client.get(`${path}/dead-letters/${seq}`);
  expect(letter).toMatchObject({
    event: { id: 'e4' },
    exchange: {
      request: { url: 'https://example.com/events', body: '{"email":"ann@example.com"}', isCut: false, events: 1 },
      answer: { status: 400, headers: { 'x-request-id': 'r-1' }, body: 'no email of ann@example.com' },
    },
  });
  expect((await client.get(`${path}/dead-letters/${before}`)).body.exchange).toBeNull();
  const stranger = await plane.newAccount();
  expect((await stranger.get(`${path}/dead-letters/${seq}`)).status).toBe(404);
  const other = await client.post('/destinations', {
    type: 'HTTPDestination',
    settings: { httpDestinationUrl: 'https://example.com/' },
  });
  for (const at of [
    `${path}/dead-letters/0`,
    `${path}/dead-letters/x`,
    `/destinations/${other.body.id}/dead-letters/${seq}`,
  ]) {
    expect((await client.get(at)).status).toBe(404);
  }
  const { account_id: accountId } = sampleEvent({}).event;
  await announceErasure(plane.log, {
    id: randomUUID(),
    accountId,
    visitorIds: [visitorId],
    atMs: Date.now(),
    isAhead: false,
  });
  await vi.waitFor(async () => expect((await client.get(`${path}/dead-letters/${seq}`)).status).toBe(404), {
    timeout: 10_000,
  });
  expect(await readAt(plane.log, streams.deadLetters, seq)).toBeUndefined();
});

test('dead letters: are deleted by reason, by time, or all at once; later ones stay, and the deletion is audited', async () => {
  for (let n = 0; n < 6; n += 1) await bury(n, n % 2 === 0 ? 'status 400' : 'status 500');
  const remaining = async (): Promise<string> => {
    const { body } = await client.get(`${path}/dead-letters`);
    return body.entities.map(({ event }: { event: { id: string } }) => event.id).join(' ');
  };
  const { body } = await client.delete(`${path}/dead-letters?reason=status+500&to=${minute(4)}`);
  expect(body).toEqual({ deleted: 2, pagination: { nextCursor: null, hasMore: false } });
  expect(await remaining()).toBe('e5 e4 e2 e0');
  expect((await client.delete(`${path}/dead-letters?to=${minute(1)}`)).body).toMatchObject({ deleted: 1 });
  expect(await client.delete(`${path}/dead-letters?to=1960-01-01T00:00:00Z`)).toMatchObject({ status: 400 });
  const stranger = await plane.newAccount();
  expect((await stranger.delete(`${path}/dead-letters`)).status).toBe(404);
  expect((await client.delete(`${path}/dead-letters`)).body).toMatchObject({ deleted: 3 });
  expect(await remaining()).toBe('');
  const { body: audit } = await client.get(`/audit?entityId=${destinationId}`);
  expect(audit.entities[0]).toMatchObject({ action: 'destination.delete-dead-letters' });
});

test.each([
  ['from=yesterday', 'from must be a time such as 2026-01-31T12:00:00Z'],
  ['from=1960-01-01T00:00:00Z', 'from must be a time since 1970'],
  [`from=${minute(2)}&to=${minute(2)}`, 'from must be before to'],
  ['cursor=abc', 'cursor must be the nextCursor of this list, with the same filters, unchanged'],
])('dead letters: refuses %s', async (query, error) => {
  expect(await client.get(`${path}/dead-letters?${query}`)).toMatchObject({ status: 400, body: { error } });
});

test.each([
  ['no what', {}, 'what is required'],
  ['another what', { what: 'everything' }, 'what must be one of dead-letters, log'],
  ['a log without from', { what: 'log', to: minute(1) }, 'from is required for the log'],
  ['a log without to', { what: 'log', from: minute(1) }, 'to is required for the log'],
  ['a range that is none', { what: 'log', from: minute(1), to: minute(0) }, 'from must be before to'],
  [
    'a reason for the log',
    { what: 'log', reason: 'x', from: minute(0), to: minute(1) },
    'reason is for dead letters only',
  ],
  [
    'events for the log',
    { what: 'log', eventIds: ['e1'], from: minute(0), to: minute(1) },
    'eventIds is for dead letters only',
  ],
  ['a time that is none', { what: 'dead-letters', from: 7 }, 'from must be a time such as 2026-01-31T12:00:00Z'],
  ['an unknown field', { what: 'dead-letters', since: minute(1) }, 'since is not a known field'],
])('replay: refuses %s', async (_case, body, error) => {
  expect(await client.post(`${path}/replay`, body)).toMatchObject({ status: 400, body: { error } });
});

test('replay: is allowed only for a destination that is live and enabled', async () => {
  const ask = () => client.post(`${path}/replay`, { what: 'dead-letters' });
  expect(await ask()).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('not in the live version') },
  });
  await client.patch(path, { status: 'Disabled' });
  await client.publish();
  expect(await ask()).toMatchObject({ status: 400, body: { error: expect.stringContaining('Disabled') } });
  await client.patch(path, { status: 'Enabled' });
  await client.publish();
  expect(await ask()).toMatchObject({ status: 200, body: { status: 'waiting' } });
});

test('replay: can be requested, read, listed and cancelled', async () => {
  await client.publish();
  const range = { from: minute(0), to: minute(9) };
  const { body: letters } = await client.post(`${path}/replay`, { what: 'dead-letters', reason: 'status 400' });
  expect(letters).toMatchObject({
    what: 'dead-letters',
    reason: 'status 400',
    from: null,
    status: 'waiting',
    share: 0,
  });
  const { body: log } = await client.post(`${path}/replay`, { what: 'log', ...range });
  expect(log).toMatchObject({ what: 'log', reason: null, ...range, scanned: 0, queued: 0, destinationId });
  expect((await client.post(`${path}/replay`, { what: 'log', ...range })).body).toEqual(log);
  const { body: page } = await client.get(`${path}/replays?limit=1`);
  expect(page.entities).toEqual([log]);
  const { body: next } = await client.get(`${path}/replays?cursor=${page.pagination.nextCursor}`);
  expect(next).toEqual({ entities: [letters], pagination: { nextCursor: null, hasMore: false } });
  // Progress, as the pipeline that runs the replay stores it.
  const job = await find(log.id);
  if (job === undefined) throw new Error('the replay is not in the log');
  const progress = { firstSeq: 101, nextSeq: 151, endSeq: 200, scanned: 50, queued: 400 };
  await store({ ...job, state: 'running', owner: 'pipeline', ...progress });
  const replay = `${path}/replays/${log.id}`;
  expect((await client.get(replay)).body).toMatchObject({ status: 'running', scanned: 50, queued: 400, share: 0.5 });
  expect((await client.post(`${replay}/cancel`)).body).toMatchObject({ status: 'cancelling' });
  expect((await client.post(`${path}/replays/${letters.id}/cancel`)).body).toMatchObject({ status: 'cancelled' });
  const { body: audit } = await client.get(`/audit?entityId=${destinationId}`);
  const actions = audit.entities.map(({ action }: { action: string }) => action);
  expect(actions.slice(0, 2)).toEqual(['destination.cancel-replay', 'destination.cancel-replay']);
  expect(actions).toContain('destination.replay');
});

test('replay: at most ten replays wait for a destination', async () => {
  await client.publish();
  for (let n = 1; n <= 10; n += 1) {
    expect((await client.post(`${path}/replay`, { what: 'dead-letters', to: minute(n) })).status).toBe(200);
  }
  const refused = await client.post(`${path}/replay`, { what: 'dead-letters' });
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1']);
});

test('replay: a replay that does not exist, or is of another account, is a 404', async () => {
  await client.publish();
  const { body: job } = await client.post(`${path}/replay`, { what: 'dead-letters' });
  expect((await client.get(`${path}/replays/${uuidv7()}`)).status).toBe(404);
  expect((await client.get(`${path}/replays/a.b`)).status).toBe(404);
  expect((await client.post(`${path}/replays/${uuidv7()}/cancel`)).status).toBe(404);
  const stranger = await plane.newAccount();
  expect((await stranger.get(`${path}/replays/${job.id}`)).status).toBe(404);
  expect((await stranger.get(`${path}/dead-letters`)).status).toBe(404);
  expect((await stranger.post(`${path}/replay`, { what: 'dead-letters' })).status).toBe(404);
});

test('dead letters and replays: a fetching source has dead letters, and replays them once it has a token to fetch with', async () => {
  const { body: source } = await client.post('/sources', { type: 'FacebookLeadAds' });
  const { body: other } = await client.post('/sources', { type: 'TypeformWebhooks' });
  const ofSource = `/destinations/${source.id}`;
  expect(await client.get(`${ofSource}/dead-letters`)).toMatchObject({ status: 200, body: { entities: [] } });
  expect((await client.get(`/destinations/${other.id}/dead-letters`)).status).toBe(404);
  await client.publish();
  expect((await client.post(`${ofSource}/replay`, { what: 'dead-letters' })).status).toBe(400);
  await client.patch(`/sources/${source.id}`, { accessToken: 'page-token' });
  await client.publish();
  expect(await client.post(`${ofSource}/replay`, { what: 'dead-letters' })).toMatchObject({ status: 200 });
  expect((await client.get(`${ofSource}/replays`)).body.entities).toHaveLength(1);
});
