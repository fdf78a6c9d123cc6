import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import {
  allDeadLetters,
  allIngestDeadLetters,
  allQuarantined,
  deadLetterSubject,
  ingestDeadLetterSubject,
  quarantineSubject,
  retriesOfAll,
} from '../shared/contracts/subjects.ts';
import type { NatsServer } from '../shared/embedded/nats/nats-server.ts';
import { openBuckets } from '../shared/nats/buckets/open-buckets.ts';
import { createReplayStore } from '../shared/nats/buckets/replay-store.ts';
import { announceErasure } from '../shared/testing/announce-erasure.ts';
import { announceWithdrawals } from '../shared/nats/erasures/announce-withdrawals.ts';
import { countBySubject } from '../shared/nats/messages/subject-log.ts';
import { publish } from '../shared/nats/publish/publisher.ts';
import { streams } from '../shared/nats/streams/topology.ts';
import { migrate } from '../shared/postgres/migrate.ts';
import { createTestDatabase, startTestNats } from '../shared/testing/servers.ts';
import type { TestDatabase } from '../shared/testing/servers.ts';
import { openTestPool } from '../shared/testing/test-pool.ts';
import { openRig, startOn } from './testing/open-rig.ts';
import type { PipelineRig } from './testing/pipeline-rig.ts';
import { openTwins, ruleId, settledState } from './testing/twin-accounts.ts';
import type { Twin } from './testing/twin-accounts.ts';
import { until } from '../shared/testing/until.ts';

let nats: NatsServer;
let database: TestDatabase;

beforeAll(async () => {
  [nats, database] = await Promise.all([startTestNats(), createTestDatabase()]);
  await migrate(database.url);
});
afterAll(async () => {
  await nats?.stop();
  await database?.drop();
});

/**
 * Tables that are written independently of deliveries, perhaps late: rows may be added, but existing rows must not
 * change.
 */
const lateTables = ['recent_events', 'event_outcomes', 'violations', 'identity_counts'];
const anHour = { status: 503, headers: { 'Retry-After': '3600' } };
/** Nested more deeply than a line of a frame may be nested. */
const tooDeep = JSON.parse(`${'{"a":'.repeat(600)}1${'}'.repeat(600)}`) as Record<string, never>;

const countOf = async (rig: PipelineRig, stream: string, filter: string, name: string): Promise<number> => {
  const subjects = await countBySubject(rig.connection, stream, filter);
  return [...subjects].reduce((sum, [subject, count]) => sum + (subject.includes(name) ? count : 0), 0);
};

/**
 * Fills every stream and bucket for an account, with events that are delivered, waiting, refused, quarantined or
 * unreadable.
 */
async function fill(rig: PipelineRig, { accountId, fails, ...twin }: Twin): Promise<void> {
  await rig.accept(accountId, [
    { id: 'e1', visitor: 'v' },
    { id: 'held', visitor: 'v', properties: { secret: 'x' } },
    { id: 'deep', visitor: 'v', properties: tooDeep },
    { id: 'e2', visitor: 'v' },
  ]);
  await twin.resolved([{ id: 'refused', visitor: 'refused-of-both' }]);
  await twin.resolved([{ id: 'waits', visitor: 'visitor-of-both' }]);
  await until('all arrived', () => ['e1', 'e2', 'refused', 'waits'].every((id) => twin.taken('well').includes(id)));
  await until('one is refused', async () => (await countOf(rig, streams.deadLetters, allDeadLetters, fails)) > 0);
  await until(
    'one is quarantined',
    async () => (await countOf(rig, streams.quarantine, allQuarantined, accountId)) > 0,
  );
  const letters = (): Promise<number> => countOf(rig, streams.ingestDeadLetters, allIngestDeadLetters, accountId);
  await until('one cannot be processed', async () => (await letters()) > 0);
}

/** For each stream that quotas divide: the filter for all accounts, and a subject of this account. */
const lettersOf = ({ accountId, fails }: Twin) =>
  [
    [streams.deadLetters, allDeadLetters, deadLetterSubject(fails)],
    [streams.quarantine, allQuarantined, quarantineSubject(accountId, ruleId, 0)],
    [streams.ingestDeadLetters, allIngestDeadLetters, ingestDeadLetterSubject(0, accountId)],
  ] as const;

async function flood(rig: PipelineRig, subject: string, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1)
    await publish(rig.connection, subject, randomBytes(10_000), { msgId: randomUUID(), timeoutMs: 10_000 });
}

test('twin account: whatever one account does, another account with the same ids keeps its data, byte for byte, and continues', async () => {
  const megabyte = String(1024 ** 2);
  const { rig, sink } = await openRig(nats.url, database.url, {
    RETENTION_EVERY_MS: '100',
    LOG_DEAD_LETTERS_BYTES_MAX: megabyte,
    LOG_INGEST_DEAD_LETTERS_BYTES_MAX: megabyte,
  });
  const pool = openTestPool(database.url, 2);
  onTestFinished(() => pool.end());
  const { replays } = await openBuckets(rig.connection, 1);
  const [own, other] = openTwins(rig, sink);
  await other.publish();
  await startOn(rig);

  other.answer((id) => (id === 'refused' ? 400 : 503));
  const acceptedMs = Date.now();
  await fill(rig, other);
  await other.resolved([{ id: 'parked', visitor: 'visitor-of-both' }]);
  const retriesOf = (twin: Twin): Promise<number> => countOf(rig, streams.retry, retriesOfAll, twin.fails);
  await until('one waits for a retry, and one behind it', async () => (await retriesOf(other)) >= 3);
  // While the destination is disabled, the retries stay in the first tiers, where the twin's retries will also be.
  await other.disable();
  await until('its attempts are stored', async () => {
    const [[delivered], [, failed = 0]] = [await rig.counted(other.well), await rig.counted(other.fails)];
    return delivered === 5 && failed >= 3;
  });
  // Fills less than the account's own quota, but more than half of it. Half would be the account's share if both twins
  // used one quota.
  for (const [, , subject] of lettersOf(other)) await flood(rig, subject, 28);
  const before = await settledState(pool, rig, other);
  for (const name of [
    'EVENTS',
    'RETRY',
    'DEAD_LETTERS',
    'QUARANTINE',
    'INGEST_DEAD_LETTERS',
    'KV_POSITIONS',
    'KV_HEALTH',
  ])
    expect([name, before[name]?.length]).not.toEqual([name, 0]);
  const isUntouched = async (after: string): Promise<void> => {
    const now = await settledState(pool, rig, other);
    const isLate = (name: string, row: string): boolean => lateTables.includes(name) && !before[name]?.includes(row);
    const changed = Object.keys({ ...before, ...now }).flatMap((name) => {
      const rows = now[name]?.filter((row) => !isLate(name, row)) ?? [];
      const gone = before[name]?.filter((row) => !rows.includes(row)) ?? [];
      const added = rows.filter((row) => before[name]?.includes(row) !== true);
      return [...gone.map((row) => `${name} - ${row}`), ...added.map((row) => `${name} + ${row}`)];
    });
    expect(`after ${after}: ${changed.join('\n')}`).toBe(`after ${after}: `);
  };

  const revision = await own.publish();
  // Before this revision is applied, the rule that quarantines an event does not apply to this account.
  await until('its configuration is live', async () => (await rig.reported()) >= revision);
  // Both accounts use the same ids for events and visitors. Nevertheless each event is retried in both accounts, and
  // later events of its visitor wait for it.
  const failures = new Map<string, number>();
  own.answer((id) => {
    if (id === 'refused') return 400;
    failures.set(id, (failures.get(id) ?? 0) + 1);
    return (failures.get(id) ?? 0) <= 2 ? 503 : 200;
  });
  await fill(rig, own);
  await own.resolved([{ id: 'parked', visitor: 'visitor-of-both' }]);
  await until('what failed is delivered', () =>
    ['e1', 'e2', 'waits', 'parked'].every((id) => own.taken('fails').includes(id)),
  );
  expect(own.taken('well').filter((id) => id === 'e1')).toHaveLength(1);
  await isUntouched('delivery');

  own.answer(() => 200);
  const store = createReplayStore(replays);
  await store.start(own.accountId, own.fails, { what: 'dead-letters' });
  await until('the dead letter is delivered', () => own.taken('fails').includes('refused'));
  const toMs = Date.now();
  const count = own.taken('well').length;
  await until('the range is over', () => Date.now() > toMs);
  await store.start(own.accountId, own.well, { what: 'log', fromMs: 0, toMs });
  await until('the history is delivered', () => own.taken('well').length >= count * 2);
  await isUntouched('replays');

  const visitorIds = ['visitor-of-both', 'refused-of-both'];
  await announceErasure(rig.connection, {
    id: randomUUID(),
    accountId: own.accountId,
    visitorIds,
    atMs: Date.now(),
    isAhead: false,
  });
  const words = { advertising: false };
  await announceWithdrawals(rig.connection, [
    { accountId: own.accountId, visitorIds: ['consent-of-both'], words, atMs: Date.now() },
  ]);
  await isUntouched('erasure and withdrawal');

  for (const [stream, filter, subject] of lettersOf(own)) {
    await flood(rig, subject, 60);
    await until(`${stream} is brought down`, async () => (await countOf(rig, stream, filter, subject)) < 55);
  }
  await isUntouched('quota');

  own.answer(() => anHour);
  await own.resolved([{ id: 'left', visitor: 'left-of-both' }]);
  await until('it waits', async () => (await retriesOf(own)) > 0);
  await own.remove();
  await until('waiting events go with the destination', async () => (await retriesOf(own)) === 0);
  await isUntouched('removal of destinations');

  // The twin has erased or refused these visitors, or has events of them that wait: the other account still delivers
  // their events.
  await other.resolved([
    { id: 'after-erasure', visitor: 'refused-of-both', receivedAtMs: acceptedMs },
    { id: 'after-withdrawal', visitor: 'consent-of-both', receivedAtMs: acceptedMs },
    { id: 'after-all', visitor: 'visitor-of-both', receivedAtMs: acceptedMs },
  ]);
  await rig.accept(other.accountId, [
    { id: 'e1', visitor: 'v' },
    { id: 'e3', visitor: 'v' },
  ]);
  const expected = ['after-erasure', 'after-withdrawal', 'after-all', 'e3'];
  await until('it goes on', () => expected.every((id) => other.taken('well').includes(id)));
  const all = ['e1', 'e2', 'refused', 'waits', 'parked', ...expected];
  expect(other.taken('well').toSorted()).toEqual(all.toSorted());
  expect(own.taken('well').filter((id) => expected.includes(id))).toEqual([]);
  expect(other.taken('fails')).toEqual([]);
  const accountsOf = (body: string): readonly unknown[] =>
    [JSON.parse(body) as { readonly event: { readonly account_id: string } }]
      .flat()
      .map(({ event }) => event.account_id);
  for (const { path, body } of sink.requests) expect([path.split('/')[1]]).toEqual(accountsOf(body));
}, 240_000);
