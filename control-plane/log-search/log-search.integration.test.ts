import { randomUUID } from 'node:crypto';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { encodeDeadLetter } from '../../shared/contracts/events/dead-letter.ts';
import { FrameWriter } from '../../shared/contracts/events/frame.ts';
import { encodeResolved } from '../../shared/contracts/events/resolved-event.ts';
import { encodeRetryRecord, retryTier } from '../../shared/contracts/events/retry-record.ts';
import { encodeHealthRecord, recentHealthKey } from '../../shared/contracts/health-record.ts';
import { encodePosition, positionKey } from '../../shared/contracts/destination-position.ts';
import {
  deadLetterSubject,
  dispatcherConsumer,
  eventsOfAccount,
  eventsSubject,
  retrySubject,
} from '../../shared/contracts/subjects.ts';
import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import { createReplayStore } from '../../shared/nats/buckets/replay-store.ts';
import { claimConsumer } from '../../shared/nats/consume/consumers.ts';
import { deleteMessage, readAt } from '../../shared/nats/messages/subject-log.ts';
import { streams } from '../../shared/nats/streams/topology.ts';
import { sampleEvent } from '../../shared/destinations/sdk/sample-event.ts';
import { announceErasure } from '../../shared/testing/announce-erasure.ts';
import { publish } from '../../shared/nats/publish/publisher.ts';
import { openTestPool } from '../../shared/testing/test-pool.ts';
import type { Client } from '../testing/client.ts';
import { createLogSearches } from './log-searches.ts';
import { searchLog } from './search-log.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;
let client: Client;
let destinationId: string;

beforeAll(async () => {
  plane = await startTestControlPlane();
});
beforeEach(async () => {
  client = await plane.newAccount();
  const settings = { httpDestinationUrl: 'https://example.com/events' };
  const { body } = await client.post('/destinations', { type: 'HTTPDestination', name: 'Hook', settings });
  destinationId = body.id;
  await client.patch(`/destinations/${destinationId}`, { status: 'Enabled' });
  await client.publish();
});
afterAll(() => plane.stop());

type Report = {
  readonly status: string;
  readonly error: string | null;
  readonly found: number;
  readonly isComplete: boolean;
  readonly events: readonly { readonly id: string; readonly destinations: readonly Record<string, unknown>[] }[];
};

const resolved = (id: string, visitorId: string, own: Readonly<Record<string, unknown>> = {}) => {
  const sample = sampleEvent({ id, account_id: client.accountId, event_properties: { order_id: `o-${id}`, ...own } });
  return { ...sample, visitor: { ...sample.visitor, id: visitorId } };
};

/** Creates the destination's consumer, which has finished all events stored before. */
const claimDestination = () =>
  claimConsumer(plane.log, {
    stream: streams.events,
    name: dispatcherConsumer(destinationId),
    filterSubject: eventsOfAccount(client.accountId),
    startFrom: 'next',
    ackWaitMs: 30_000,
    ackPendingMax: 10,
  });

const logBuckets = async () => ({ connection: plane.log, buckets: await openBuckets(plane.log, 1) });

async function store(subject: string, payload: Uint8Array): Promise<number> {
  return (await publish(plane.log, subject, payload, { msgId: randomUUID(), timeoutMs: 30_000 })).seq;
}

/** Stores events in one frame of the log. Returns the frame's sequence. */
function storeEvents(events: readonly ReturnType<typeof resolved>[], accountId = client.accountId): Promise<number> {
  const writer = new FrameWriter();
  for (const event of events) writer.appendLine(encodeResolved(event));
  return store(eventsSubject(accountId, 0), writer.bytes());
}

/** Runs a search until its first report that is not `running`. */
async function search(query: string, of = client, signal = AbortSignal.timeout(30_000)): Promise<Report> {
  const headers = { authorization: `Bearer ${of.key}` };
  const ended = new AbortController();
  const answer = await fetch(`${plane.baseUrl}/rest/v1/events/search?${query}`, {
    headers,
    signal: AbortSignal.any([signal, ended.signal]),
  });
  if (!answer.ok || answer.body === null) throw new Error(`${answer.status} ${await answer.text()}`);
  const reader = answer.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  try {
    for (;;) {
      const next = await reader.read();
      if (next.done) throw new Error('the search ended without a result');
      const report = JSON.parse(next.value.data) as Report;
      if (report.status !== 'running') return report;
    }
  } finally {
    ended.abort();
  }
}

test('log search: events are found by id, visitor and property, with the outcome that the log has of each', async () => {
  const [dead, retried, waits] = [resolved('dead', 'v1'), resolved('retried', 'v1'), resolved('waits', 'v2')];
  const seq = await storeEvents([dead, retried, waits]);
  await storeEvents([resolved('theirs', 'v1')], randomUUID());
  const answer = { status: 400, code: 'no', message: 'no email', headers: {}, body: 'no' };
  const exchange = { request: { method: 'POST', url: 'https://example.com/', headers: {}, events: 1 }, answer };
  const attempt = { attempts: 2, firstAttemptAt: 1_000, lastAttemptAt: Date.now() };
  await store(
    deadLetterSubject(destinationId),
    encodeDeadLetter({ v: 1, destinationId, reason: 'status 400', ...attempt, exchange, event: dead }),
  );
  const writer = new FrameWriter();
  const about = { visitorId: 'v1', eventId: 'retried', receivedAt: retried.event.received_at, bytes: 9 };
  writer.appendLine(
    encodeRetryRecord({ ...attempt, notBefore: 0, reason: 'status 503', origin: { seq, line: 1 }, ...about }),
  );
  await store(retrySubject(destinationId, retryTier(0)), writer.bytes());

  const byVisitor = await search('visitorId=v1');
  expect(byVisitor).toMatchObject({ status: 'done', found: 2, isComplete: true });
  expect(byVisitor.events.map(({ id, destinations }) => [id, destinations[0]])).toMatchObject([
    [
      'dead',
      {
        name: 'Hook',
        outcome: 'rejected',
        basis: 'log',
        reason: 'status 400',
        error: { code: 'no', message: 'no email' },
      },
    ],
    ['retried', { outcome: 'retrying', basis: 'log', reason: 'status 503', attempts: 2 }],
  ]);
  const byOrder = await search('property=order_id&value=o-waits');
  expect(byOrder.events).toMatchObject([{ id: 'waits', destinations: [{ outcome: 'waiting', basis: 'log' }] }]);
  expect(await search('eventId=nothing')).toMatchObject({ status: 'done', found: 0, isComplete: true });
  const past = new Date(Date.now() - 60_000).toISOString();
  expect(await search(`visitorId=v1&to=${past}`)).toMatchObject({ found: 0 });

  const pool = openTestPool(plane.databaseUrl, 1);
  await pool.query(
    `insert into recent_events (account_id, id, time, received_at, source_id, name, visitor_id, test, body)
      values ($1, 'waits', now(), now(), $2, 'Order', 'v2', false, '{}')`,
    [client.accountId, waits.event.source_id],
  );
  await pool.query(
    `insert into event_outcomes (account_id, event_id, destination_id, outcome, attempts, at) values ($1, 'waits', $2, 'delivered', 1, now())`,
    [client.accountId, destinationId],
  );
  await pool.end();
  expect((await search('eventId=waits')).events[0]?.destinations).toMatchObject([
    { outcome: 'delivered', basis: 'recorded' },
  ]);
});

test('log search: needs its scope, is recorded, hides erased visitors, and is masked if the account masks', async () => {
  const visitorId = randomUUID();
  await storeEvents([resolved('a', visitorId), resolved('b', 'v2', { email: 'ann@example.com' })]);
  await announceErasure(plane.log, {
    id: randomUUID(),
    accountId: client.accountId,
    visitorIds: [visitorId],
    atMs: Date.now(),
    isAhead: false,
  });
  await vi.waitFor(async () => expect(await search(`visitorId=${visitorId}`)).toMatchObject({ found: 0 }), {
    timeout: 20_000,
  });
  const without = await plane.newKey(client, ['visitor:find']);
  await expect(search('eventId=b', without)).rejects.toThrow(/403/);
  const pool = openTestPool(plane.databaseUrl, 1);
  await pool.query('update accounts set masks_personal_data = true where id = $1', [client.accountId]);
  await pool.end();
  const masked = await plane.newKey(client, ['event:list']);
  expect(JSON.stringify(await search('eventId=b', masked))).not.toContain('ann@');
  await expect(search('property=email&value=ann@example.com', masked)).rejects.toThrow(/403/);
  const { body } = await client.get('/audit?action=event.search');
  expect(body.entities.length).toBeGreaterThan(0);
});

test('log search: a visitor who is erased while the search runs is not in its report', async () => {
  await storeEvents([resolved('kept', 'v1'), resolved('erased', 'v2')]);
  let asked = 0;
  const searches = createLogSearches({
    logBuckets: await logBuckets(),
    // The log announces the erasure after the search has begun: only a later question finds it.
    erasures: {
      untilCurrent: async () => void (asked += 1),
      isEventErased: ({ visitor }) => asked > 1 && visitor.id === 'v2',
    },
    onFailure: (error) => expect.unreachable(String(error)),
  });
  const match = { by: 'visitor', ids: ['v1', 'v2'] } as const;
  const query = { accountId: client.accountId, match, fromMs: undefined, toMs: undefined };
  const done = await new Promise((resolve) => {
    const feed = searches.of(query, [], async (found) => found.map(({ event }) => ({ id: event.event.id })));
    feed.subscribe((report) => report.status === 'done' && resolve(report));
  });
  expect(done).toMatchObject({ found: 1, events: [{ id: 'kept' }] });
});

test("log search: the event's own consent decides whether it was sent", async () => {
  const purpose = { name: 'Ads', isEnabled: true, defaultState: 'Granted', destinationIds: [destinationId] };
  expect((await client.post('/collections/consentSettings', purpose)).status).toBe(200);
  await client.publish();
  const denied = resolved('denied', 'v1');
  await storeEvents([{ ...denied, event: { ...denied.event, consent: { ads: false } } }]);
  expect((await search('eventId=denied')).events[0]?.destinations).toMatchObject([
    { outcome: 'notSent', basis: 'rules', reason: 'Consent to Ads is missing.' },
  ]);
});

test('log search: an event received while the destination was disabled is not shown as delivered', async () => {
  await client.patch(`/destinations/${destinationId}`, { status: 'Disabled' });
  await client.publish();
  await client.patch(`/destinations/${destinationId}`, { status: 'Enabled' });
  await client.publish();
  for (const version of [1, 2]) {
    const event = resolved(`of-version-${version}`, 'v1');
    await storeEvents([{ ...event, event: { ...event.event, version_number: version } }]);
  }
  await claimDestination();
  const outcomes = (await search('visitorId=v1')).events.map(({ destinations }) => destinations[0]);
  const reason = 'The destination was not enabled in version 2, with which the event was received.';
  expect(outcomes).toMatchObject([
    { outcome: 'delivered', basis: 'rules' },
    { outcome: 'notSent', basis: 'rules', reason },
  ]);
});

test('log search: an event that is older than the destination is not shown as delivered; a replay may have sent it', async () => {
  const seq = await storeEvents([resolved('old', 'v1')]);
  const { positions, replays } = (await logBuckets()).buckets;
  const storedAtMs = (await readAt(plane.log, streams.events, seq))?.storedAtMs ?? 0;
  const beginAt = (sinceMs: number): Promise<number> =>
    positions.put(positionKey(destinationId), encodePosition({ v: 1, term: 1, owner: 'i', sinceMs }));
  await claimDestination();
  const outcome = async () => (await search('eventId=old')).events[0]?.destinations[0];
  await beginAt(storedAtMs);
  expect(await outcome()).toMatchObject({ outcome: 'delivered', basis: 'rules' });
  await beginAt(storedAtMs + 1);
  expect(await outcome()).toMatchObject({
    outcome: 'notSent',
    basis: 'log',
    reason: `It is older than the destination, which was first published at ${new Date(storedAtMs + 1).toISOString()}.`,
  });
  const request = { what: 'log', fromMs: storedAtMs, toMs: storedAtMs } as const;
  await createReplayStore(replays).start(client.accountId, destinationId, request);
  expect(await outcome()).toMatchObject({ outcome: 'unknown' });
});

test('log search: an event of a time that the destination skipped is not shown as delivered', async () => {
  const seq = await storeEvents([resolved('skipped', 'v1')]);
  const storedAtMs = (await readAt(plane.log, streams.events, seq))?.storedAtMs ?? 0;
  await claimDestination();
  const skipped = { retention: [[storedAtMs, storedAtMs + 1, 1]] } as const;
  const record = encodeHealthRecord({ v: 1, minutes: [], lastDispatchedAt: null, skipped });
  await (await logBuckets()).buckets.health.put(recentHealthKey(destinationId, 'one'), record);
  const health = async () => (await client.get(`/destinations/${destinationId}/health`)).body.missed;
  await expect.poll(health).toHaveLength(1);
  expect((await search('eventId=skipped')).events[0]?.destinations).toMatchObject([
    { outcome: 'unknown', reason: expect.stringContaining('skipped events of this time') },
  ]);
});

test('log search: an event whose retry moves while the search runs is not shown as delivered', async () => {
  const event = resolved('moving', 'v1');
  const seq = await storeEvents([event]);
  await claimDestination();
  const attempt = { attempts: 1, firstAttemptAt: 1_000, lastAttemptAt: 1_000, notBefore: 0, reason: 'status 503' };
  const about = { visitorId: 'v1', eventId: 'moving', receivedAt: event.event.received_at, bytes: 9 };
  const writer = new FrameWriter();
  writer.appendLine(encodeRetryRecord({ ...attempt, ...about, origin: { seq, line: 1 } }));
  const retry = () => store(retrySubject(destinationId, retryTier(0)), writer.bytes());
  const first = await retry();
  const context = {
    connection: plane.log,
    signal: AbortSignal.timeout(30_000),
    isErased: () => false,
    // The search calls this after it has read the other destination's retries, and before it reads this one's.
    beginningOf: async (id: string) => {
      if (id !== destinationId) {
        await retry();
        await deleteMessage(plane.log, streams.retry, first);
      }
      return { sinceMs: undefined, isLost: false, isReplayed: () => false };
    },
    onProgress: () => undefined,
  };
  const match = { by: 'event', id: 'moving' } as const;
  const query = { accountId: client.accountId, match, fromMs: undefined, toMs: undefined };
  const { found } = await searchLog(context, query, [randomUUID(), destinationId]);
  expect(found[0]?.at.get(destinationId)).toMatchObject({ outcome: 'retrying' });
});

test('log search: finds 100 at most, and says that there may be more', async () => {
  await storeEvents(Array.from({ length: 120 }, (_, n) => resolved(`e${n}`, 'many')));
  expect(await search('visitorId=many')).toMatchObject({ found: 100, isComplete: false });
});

test.each([
  ['', 'give one of eventId, visitorId and property'],
  ['eventId=a&visitorId=b', 'give one of eventId, visitorId and property'],
  ['property=a', 'property and value must be given together'],
  ['eventId=a&from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'from must be before to'],
])('log search: refuses %s', async (query, error) => {
  expect(await client.get(`/events/search?${query}`)).toMatchObject({ status: 400, body: { error } });
});
