import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { readPlanSettings } from '../../../shared/contracts/config/plan-settings.ts';
import { client } from '../../../shared/nats/connection/client.ts';
import { resolverConsumer } from '../../../shared/contracts/subjects.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { migrate } from '../../../shared/postgres/migrate.ts';
import { defaultsOf } from '../../../shared/runtime/env.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { createTestDatabase, startTestNats } from '../../../shared/testing/servers.ts';
import type { TestDatabase } from '../../../shared/testing/servers.ts';
import { testLiveConfig } from '../../../shared/testing/test-account-config.ts';
import { until } from '../../../shared/testing/until.ts';
import { readRecentSettings, recentEnv } from '../recent/recent-settings.ts';
import { openRecorder } from '../recent/recorder.ts';
import { compileResolvePlan } from './resolve-plan.ts';
import { forbiddenRule } from './testing/forbidden-rule.ts';
import { createResolverRig } from './testing/resolver-rig.ts';
import type { ResolverRig, TestEvent } from './testing/resolver-rig.ts';
import { createViolationStore, groupsPerHourMax } from './write-violations.ts';

let nats: NatsServer;
let database: TestDatabase;
let rig: ResolverRig;

beforeAll(async () => {
  [nats, database] = await Promise.all([startTestNats(), createTestDatabase()]);
  await migrate(database.url);
  rig = await createResolverRig(nats.url, database.url);
});
afterAll(async () => {
  await rig?.close();
  await nats?.stop();
  await database?.drop();
});

const planned = { id: 'signup', name: 'Signup', status: 'Approved', properties: [], action: 'Report' };

const rulesOf = (settings: JsonObject = {}) =>
  compileResolvePlan({
    ...testLiveConfig({
      dataGovernanceRules: [
        forbiddenRule('omits', { property: 'event_properties.ssn', action: 'Omit', severity: 'Error' }),
        forbiddenRule('holds', { property: 'event_properties.card', action: 'Quarantine' }),
        forbiddenRule('drops', { property: 'event_properties.pin', action: 'Drop' }),
      ],
      dataGovernanceEvents: [planned],
    }),
    planSettings: readPlanSettings(settings),
  });

/** Resolves events, with a recorder of the recent-events view; a last event shows when all others are resolved. */
async function resolve(plan: ReturnType<typeof rulesOf>, events: readonly TestEvent[]) {
  const account = randomUUID();
  const resolver = await rig.start(0, {
    plans: (id) => (id === account ? plan : undefined),
    openRecorder: (context) =>
      openRecorder({
        ...context,
        pool: rig.pool,
        partitions: 1,
        settings: readRecentSettings(defaultsOf(recentEnv)).events,
      }),
  });
  const last = { id: randomUUID(), body: { event: '$last' } };
  const before = resolver.stats() as Readonly<Record<string, number>>;
  await rig.send(
    0,
    [...events, last].map((event) => ({ ...event, account })),
  );
  await until('it is resolved', async () => (await rig.written(account)).some(({ event }) => event.id === last.id));
  await resolver.stop(5_000);
  const after = resolver.stats() as Readonly<Record<string, number>>;
  return { account, since: (name: string): number => (after[name] ?? 0) - (before[name] ?? 0) };
}

const violationsOf = async (account: string) => {
  const { rows } = await rig.ownerPool.query<JsonObject>(
    `select rule, event, source_id as source, app_version as version, action, severity, count::int, sample
     from violations where account_id = $1 order by rule, event, source_id, app_version`,
    [account],
  );
  return rows;
};

const recentOf = async (account: string) => {
  const { rows } = await rig.ownerPool.query<JsonObject>(
    "select * from recent_events where account_id = $1 and name <> '$last' order by id",
    [account],
  );
  return rows;
};

const hour = 1_700_000_000_000;

test('violations: each is counted by rule, event, source and app version, with a sample that shows no value', async () => {
  const event = (version: string, properties: JsonObject, own: Partial<TestEvent> = {}): TestEvent => ({
    at: hour,
    body: { event: 'Signup', defaultProperties: { app_version: version }, eventProperties: properties },
    ...own,
  });
  const { account, since } = await resolve(rulesOf(), [
    event('1.0', { ssn: '078-05-1120' }),
    event('1.0', { ssn: '078-05-1121' }),
    event('2.0', { ssn: '078-05-1120' }),
    event('2.0', { card: 4111 }, { source: 'source-2' }),
    event('2.0', { ssn: '078-05-1120' }, { test: true }),
  ]);
  const omits = { rule: 'omits', event: 'Signup', source: 'source-1', action: 'Omit', severity: 'Error' };
  const sample = 'event_properties.ssn: 999-99-9999';
  const violations = await violationsOf(account);
  expect(violations.filter((one) => one['rule'] !== 'unknown-property')).toEqual([
    {
      rule: 'holds',
      event: 'Signup',
      source: 'source-2',
      version: '2.0',
      action: 'Quarantine',
      severity: 'Warning',
      count: 1,
      sample: 'event_properties.card: 9999',
    },
    { ...omits, version: '1.0', count: 2, sample },
    { ...omits, version: '2.0', count: 1, sample },
  ]);
  expect(since('plan_errors')).toBe(3);
});

test('violations: a quarantined event that is delivered again after a restart is counted and quarantined once', async () => {
  const account = randomUUID();
  const plans = (id: string) => (id === account ? rulesOf() : undefined);
  const sent = [
    { account, id: 'held', body: { event: 'Signup', eventProperties: { card: 4111 } } },
    { account, id: 'last', body: { event: 'Signup' } },
  ];
  const first = await rig.start(1, { plans });
  await rig.send(1, sent);
  await until('it is resolved', async () => (await rig.written(account)).length === 1);
  await first.stop(5_000);
  // Without its consumer the next resolver receives the frame again, as if the first had ended before acknowledging it.
  await rig.connection[client].jsm.consumers.delete(streams.ingest, resolverConsumer(1));
  const second = await rig.start(1, { plans });
  await until('it came again', async () => second.stats()['duplicates'] === 1);
  await second.stop(5_000);
  const holds = (await violationsOf(account)).filter((one) => one['rule'] === 'holds');
  expect(holds.map((one) => one['count'])).toEqual([1]);
  expect([first.stats()['quarantined'], second.stats()['quarantined']]).toEqual([1, 0]);
});

test('violations: the groups of an account stay within their limit, and further violations are counted by their rule', async () => {
  const store = createViolationStore(rig.pool);
  const account = randomUUID();
  const some = (from: number, groups: number) =>
    Array.from({ length: groups }, (_, index) => ({
      accountId: account,
      hourAtMs: hour,
      rule: 'r',
      event: `event-${from + index}`,
      sourceId: 's',
      appVersion: '',
      action: 'Report',
      severity: 'Info',
      firstAtMs: hour,
      lastAtMs: hour,
      count: 2,
      sample: 'x',
    }));
  await store.write(some(0, groupsPerHourMax - 10));
  await store.write(some(groupsPerHourMax - 20, 40));
  await store.write(some(0, 1));
  const violations = await violationsOf(account);
  expect(violations.length).toBe(groupsPerHourMax + 1);
  const countOf = (event: string) => violations.find((one) => one['event'] === event)?.['count'];
  expect([countOf('_other'), countOf('event-0'), countOf(`event-${groupsPerHourMax - 15}`)]).toEqual([40, 4, 4]);
  // All of these rows are too old to be kept.
  await store.deleteOld();
  expect(await violationsOf(account)).toEqual([]);
});

test('recent events: a quarantined or dropped event is shown without its content, a changed event with the rules that changed it', async () => {
  const at = Date.now();
  const event = (id: string, properties: JsonObject, own: Partial<TestEvent> = {}): TestEvent => ({
    id,
    at,
    body: { event: 'Signup', userId: 'ann', email: 'ann@example.com', eventProperties: { ...properties } },
    ...own,
  });
  const { account, since } = await resolve(rulesOf({ unknownProperties: { action: 'Redact', severity: 'Info' } }), [
    event('changed', { ssn: '078-05-1120', plan: 'free' }),
    event('dropped', { pin: 'canary' }),
    event('held', { card: 'canary' }),
    event('tried', { card: 'canary' }, { test: true }),
    { id: 'passed', at, body: { event: 'Signup' } },
  ]);
  const rows = await recentOf(account);
  const planOf = (id: string) => rows.find((row) => row['id'] === id)?.['plan'];
  expect(planOf('changed')).toEqual({
    outcome: 'changed',
    rules: [
      { rule: 'omits', action: 'Omit', property: 'event_properties.ssn' },
      { rule: 'unknown-property', action: 'Redact' },
    ],
  });
  expect(planOf('passed')).toBeNull();
  const held = { rule: 'holds', action: 'Quarantine', property: 'event_properties.card' };
  const [unknown] = [{ rule: 'unknown-property', action: 'Redact' }];
  expect(planOf('held')).toEqual({ outcome: 'quarantined', rules: [held, unknown] });
  // A test event is neither quarantined nor dropped, but the view shows what would have happened to a live event.
  expect(planOf('tried')).toEqual({ outcome: 'quarantined', rules: [held, unknown] });
  const gone = rows.filter(({ id }) => id === 'held' || id === 'dropped');
  expect(gone.map(({ name, visitor_id, source_id, body }) => ({ name, visitor_id, source_id, body }))).toEqual([
    { name: 'Signup', visitor_id: '', source_id: 'source-1', body: {} },
    { name: 'Signup', visitor_id: '', source_id: 'source-1', body: {} },
  ]);
  expect([since('plan_changed'), since('plan_dropped'), since('quarantined')]).toEqual([1, 1, 1]);
});

test('tracking plan: the account’s settings decide what happens to events and properties that its plan does not list', async () => {
  const events = ['Signup', 'Other', '$page'].map((name) => ({ body: { event: name, eventProperties: { x: 'y' } } }));
  const namesOf = async (settings: JsonObject) => {
    const { account } = await resolve(rulesOf(settings), events);
    const written = (await rig.written(account)).filter(({ event }) => event.event !== '$last');
    return written.map(({ event }) => [event.event, event.event_properties]);
  };
  const all = ['Signup', 'Other', '$page'].map((name) => [name, { x: 'y' }]);
  expect(await namesOf({})).toEqual(all);
  expect(await namesOf({ unknownEvents: { action: 'Drop' } })).toEqual([all[0], all[2]]);
  expect(await namesOf({ unknownEvents: { action: 'Quarantine' }, unknownProperties: { action: 'Omit' } })).toEqual([
    ['Signup', {}],
    all[2],
  ]);
});
