import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { releasedLine } from '../../../shared/contracts/events/quarantine.ts';
import { ingestSubject } from '../../../shared/contracts/subjects.ts';
import { publish } from '../../../shared/nats/publish/publisher.ts';
import { envelopeOf, readQuarantine, releaseQuarantined } from '../../../shared/nats/quarantine/quarantine.ts';
import type { QuarantinedEvent } from '../../../shared/nats/quarantine/quarantine.ts';
import { migrate } from '../../../shared/postgres/migrate.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { eraseFor } from '../../../shared/testing/visitors.ts';
import { createTestDatabase, startTestNats } from '../../../shared/testing/servers.ts';
import type { TestDatabase } from '../../../shared/testing/servers.ts';
import { testLiveConfig } from '../../../shared/testing/test-account-config.ts';
import { suppressIdentifiers } from '../../../shared/visitors/suppressions.ts';
import { until } from '../../../shared/testing/until.ts';
import { noRecorder } from '../recent/testing/no-recorder.ts';
import { compileResolvePlan } from './resolve-plan.ts';
import { forbiddenRule } from './testing/forbidden-rule.ts';
import { createResolverRig } from './testing/resolver-rig.ts';
import type { ResolverRig, TestEvent } from './testing/resolver-rig.ts';

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

const planOf = (rules: readonly JsonObject[], events: readonly JsonObject[] = [], identity?: JsonObject) =>
  compileResolvePlan(
    testLiveConfig(
      {
        dataGovernanceRules: rules.map((rule, index) =>
          forbiddenRule(`rule-${index}`, { name: `Rule ${index}`, ...rule }),
        ),
        dataGovernanceEvents: events.map((event, index) => ({ id: `event-${index}`, name: 'E', ...event })),
      },
      identity === undefined ? {} : { identity },
    ),
  );

/** Resolves events of an account with a plan; a last, irrelevant event shows when all are resolved. */
async function resolve(
  plan: ReturnType<typeof planOf>,
  events: readonly TestEvent[],
  account: string = randomUUID(),
  onLeft: (eventId: string) => void = () => undefined,
) {
  const resolver = await rig.start(0, {
    plans: (id) => (id === account ? plan : undefined),
    openRecorder: async ({ planOutcomes }) => ({
      ...noRecorder,
      close: async () => {
        for (const { id } of planOutcomes.takeLeft()) onLeft(id);
      },
    }),
  });
  const { events: before } = resolver.stats();
  const last = randomUUID();
  await rig.send(
    0,
    [...events, { id: last, body: { event: 'Last' } }].map((event) => ({ ...event, account })),
  );
  await until('it is resolved', async () => (await rig.written(account)).some(({ event }) => event.id === last));
  const stats = resolver.stats() as Readonly<Record<string, number>>;
  await resolver.stop(5_000);
  const written = (await rig.written(account)).filter(({ event }) => event.event !== 'Last');
  return { account, written, stats, events: (stats['events'] ?? 0) - before };
}

const ssn = '078-05-1120';
const person = { userId: 'ann', eventProperties: { ssn, total: 1 }, userProperties: { ssn, city: 'Graz' } };

test('tracking plan: omitted properties are neither sent nor kept with the visitor, and redacted properties are unreadable', async () => {
  const plan = planOf([
    { property: 'event.event_properties.ssn', action: 'Omit' },
    { property: 'visitor.ssn', action: 'Redact' },
    { property: 'default_properties.ip', action: 'Omit' },
  ]);
  const { account, written, stats } = await resolve(plan, [
    { ip: '192.0.2.7', body: { event: 'E', ...person } },
    { kind: 'identify', body: { userId: 'ann', userProperties: person.userProperties } },
    { body: { event: 'E', eventProperties: { total: 2 } } },
  ]);
  expect(written.map(({ event }) => event.event_properties)).toEqual([{ total: 1 }, { city: 'Graz' }, { total: 2 }]);
  expect(JSON.stringify(written)).not.toMatch(/078-05|192\.0\.2\.7/);
  const { rows } = await rig.ownerPool.query('select properties from visitors where account_id = $1', [account]);
  expect(JSON.stringify(rows)).toContain('Graz');
  expect(JSON.stringify(rows)).not.toContain(ssn);
  expect(stats).toMatchObject({ 'plan_hits:rule-0': 2, 'plan_hits:rule-1': 2 });
});

test('tracking plan: a dropped event leaves nothing, not even a visitor; an omitted identifier identifies no visitor', async () => {
  const plan = planOf([
    { property: 'visitor.email', action: 'Omit' },
    { property: 'event_properties.card', action: 'Drop' },
  ]);
  const { account, written, stats } = await resolve(plan, [
    { body: { event: 'E', externalId: 'dropped', eventProperties: { card: '4111' } } },
    { body: { event: 'E', externalId: 'one', email: 'same@example.com' } },
    { body: { event: 'E', externalId: 'two', userProperties: { email: 'same@example.com' } } },
  ]);
  expect(new Set(written.map(({ visitor }) => visitor.id)).size).toBe(2);
  const { rows } = await rig.ownerPool.query<{ value: string }>(
    'select value from visitor_identities where account_id = $1 order by value',
    [account],
  );
  expect(rows.map(({ value }) => value)).toEqual(['one', 'two']);
  expect(stats).toMatchObject({ plan_dropped: 1 });
});

test('tracking plan: an event that names a suppressed identifier is dropped, although a rule or the settings remove it from the event’s visitor', async () => {
  const omitting = [
    { property: 'visitor.email', action: 'Omit' },
    { property: 'visitor.external_id', action: 'Omit' },
  ];
  const ada = 'ada@example.com';
  const events = [
    { userProperties: { email: 'Ada@example.com' } },
    { userId: 'known', email: ada },
    { userId: 'known', email: 'other@example.com' },
    { userId: 'known', externalId: 'c-1', userProperties: { external_id: 'c-ada' } },
  ].map((body) => ({ body: { event: 'E', ...body } }));
  for (const plan of [planOf([], [], { emailIdentifies: false }), planOf(omitting)]) {
    const account = randomUUID();
    const identifiers = [
      { kind: 'email' as const, value: ada },
      { kind: 'external_id' as const, value: 'c-ada' },
    ];
    await resolve(plan, [{ body: { event: 'E', userId: 'known', externalId: 'c-1' } }], account);
    const audit = async (): Promise<void> => {};
    const { created } = await suppressIdentifiers(
      rig.ownerPool,
      { accountId: account, identifiers, reference: undefined },
      { now: Date.now, audit },
    );
    expect(created).toBe(2);
    const { stats, written } = await resolve(plan, events, account);
    expect(written.map(({ visitor }) => visitor.id)).toEqual(['known', 'known']);
    expect(stats).toMatchObject({ erased_dropped: 3 });
  }
});

test('tracking plan: a test event is changed but never dropped; rules in the previous format, which have no action, only count', async () => {
  const dropping = planOf([
    { property: 'event_properties.card', action: 'Drop' },
    { property: 'event_properties.ssn', action: 'Omit' },
  ]);
  const test = await resolve(dropping, [{ test: true, body: { event: 'E', eventProperties: { card: 1, ssn } } }]);
  expect(test.written.map(({ event }) => event.event_properties)).toEqual([{ card: 1 }]);
  const old = planOf(
    [{ property: 'event.event_properties.ssn' }, { property: 'nowhere' }],
    [{ status: 'Approved', properties: [{ name: 'ssn', type: 'number', isRequired: true, description: null }] }],
  );
  const { written, stats } = await resolve(old, [{ body: { event: 'E', ...person } }]);
  expect(written.map(({ event }) => event.event_properties)).toEqual([person.eventProperties]);
  expect(stats).toMatchObject({
    'plan_hits:rule-0': 1,
    'plan_hits:event-0': 1,
    'plan_hits:unknown-event': 1,
    plan_dropped: 0,
  });
});

test('tracking plan: the plan of one account does not apply to another account with the same ids', async () => {
  const plan = planOf([{ property: 'event_properties.ssn', action: 'Drop' }]);
  const event: TestEvent = { id: 'same', body: { event: 'E', userId: 'same', eventProperties: { ssn } } };
  const other = randomUUID();
  const { written } = await resolve(plan, [event]);
  const resolver = await rig.start(0, { plans: () => undefined });
  await rig.send(0, [{ ...event, account: other }]);
  await until('it is resolved', async () => (await rig.written(other)).length === 1);
  await resolver.stop(5_000);
  expect(written).toEqual([]);
});

const heldOf = async (account: string) => {
  const bounds = { eventsMax: 100, bytesMax: 1024 ** 2 };
  const { events } = await readQuarantine(rig.connection, { accountId: account, filter: {} }, bounds);
  return events;
};

test('tracking plan: quarantined events wait as they were accepted, and after a release are judged again and written in order', async () => {
  const holding = planOf([{ property: 'event_properties.ssn', action: 'Quarantine' }]);
  const events = [1, 2, 3].map((total) => ({
    id: `held-${total}`,
    at: 1_700_000_000_000,
    body: { event: 'E', userId: 'ann', eventProperties: { ssn, total } },
  }));
  const { account, written, stats } = await resolve(holding, events);
  expect([written, stats['quarantined']]).toEqual([[], 3]);
  const held = await heldOf(account);
  expect(held.map(({ rules }) => rules)).toEqual([['rule-0'], ['rule-0'], ['rule-0']]);
  expect(held.map(({ line }) => envelopeOf(line).body)).toEqual(events.map(({ body }) => body));

  // If the same rules still require quarantine after the release, the events are quarantined again.
  await releaseQuarantined(rig.connection, held);
  await resolve(holding, [], account);
  const again = await heldOf(account);
  expect(again.map(({ line }) => envelopeOf(line).release)).toEqual([1, 1, 1]);

  // As after a crash before the events were removed from quarantine: they are released twice, in different frames, but
  // resolved once.
  await publish(rig.connection, ingestSubject(0), framed([again[0], again[1]]), {
    msgId: randomUUID(),
    timeoutMs: 5_000,
  });
  await releaseQuarantined(rig.connection, again);
  const omitting = planOf([{ property: 'event_properties.ssn', action: 'Omit' }]);
  const after = await resolve(omitting, [], account);
  expect(after.written.map(({ event }) => [event.id, event.event_properties, event.received_at])).toEqual(
    [1, 2, 3].map((total) => [`held-${total}`, { total }, 1_700_000_000_000]),
  );
  expect(await heldOf(account)).toEqual([]);
});

test('tracking plan: a quarantined event is kept once if its client repeats it or another account uses its id', async () => {
  const holding = planOf([{ property: 'event_properties.ssn', action: 'Quarantine' }]);
  const event: TestEvent = { id: 'same', body: { event: 'E', userId: 'same', eventProperties: { ssn } } };
  const { account } = await resolve(holding, [event, event]);
  const { account: other } = await resolve(holding, [event]);
  expect([(await heldOf(account)).length, (await heldOf(other)).length]).toEqual([1, 1]);
});

test('tracking plan: a refusal of consent in an event that is quarantined or dropped counts for a known visitor', async () => {
  const plan = compileResolvePlan(
    testLiveConfig({
      allowedEvents: ['E', 'Last'].map((name) => ({ id: name, name, destinationIds: [] })),
      dataGovernanceRules: [
        forbiddenRule('held', { property: 'event_properties.ssn', action: 'Quarantine' }),
        forbiddenRule('dropped', { property: 'event_properties.card', action: 'Drop' }),
      ],
    }),
  );
  const refusing = (userId: string, event: string, eventProperties: JsonObject): TestEvent => ({
    body: { event, userId, eventProperties, userProperties: { city: 'Graz' }, consent: { ads: false, stats: true } },
  });
  const users = ['ann', 'bob', 'cid', 'dan'];
  const { account, written, stats } = await resolve(plan, [
    ...users.map((userId) => ({ body: { event: 'E', userId, consent: { ads: true } } })),
    refusing('ann', 'E', { ssn }),
    refusing('bob', 'E', { card: '4111' }),
    refusing('cid', 'Not allowed', {}),
    { ...refusing('dan', 'E', { ssn }), test: true },
    refusing('new', 'E', { card: '4111' }),
    ...users.map((userId) => ({ body: { event: 'E', userId } })),
  ]);
  const [denied, granted] = [{ ads: false }, { ads: true }];
  const consents = written.map(({ event, visitor }) => [visitor.id, event.test, visitor['consent'], visitor['city']]);
  expect(consents.filter(([, isTest]) => isTest === false).slice(4)).toEqual([
    ['ann', false, denied, undefined],
    ['bob', false, denied, undefined],
    ['cid', false, denied, undefined],
    ['dan', false, granted, undefined],
  ]);
  expect(stats).toMatchObject({ quarantined: 1, plan_dropped: 2, not_allowed_dropped: 1 });
  const { rows } = await rig.ownerPool.query('select id from visitors where account_id = $1 and id = $2', [
    account,
    'new',
  ]);
  expect(rows).toEqual([]);
});

test('tracking plan: an event of an erased person is dropped, not quarantined, if it waited at the erasure or the person is suppressed', async () => {
  const holding = planOf([{ property: 'event_properties.ssn', action: 'Quarantine' }]);
  const { account } = await resolve(holding, [
    { body: { event: 'E', userId: 'ann' } },
    { body: { event: 'E', userId: 'bob' } },
  ]);
  const event = (userId: string, id: string, at: number): TestEvent => ({
    id,
    at,
    body: { event: 'E', userId, eventProperties: { ssn } },
  });
  await eraseFor(rig.ownerPool, { accountId: account, id: 'ann' });
  await eraseFor(rig.ownerPool, { accountId: account, id: 'bob', isSuppressed: true });
  const [before, after] = [Date.now() - 60_000, Date.now() + 60_000];
  const left: string[] = [];
  const { stats } = await resolve(
    holding,
    [event('ann', 'waited', before), event('ann', 'later', after), event('bob', 'suppressed', after)],
    account,
    (id) => left.push(id),
  );
  expect((await heldOf(account)).map(({ line }) => envelopeOf(line).id)).toEqual(['later']);
  expect(stats).toMatchObject({ quarantined: 1, erased_dropped: 2 });
  // The view shows no dropped event as quarantined.
  expect(left).toEqual(['later']);
  const { rows } = await rig.ownerPool.query("select id from visitors where account_id = $1 and id in ('ann', 'bob')", [
    account,
  ]);
  expect(rows).toEqual([]);
});

const framed = (events: readonly (QuarantinedEvent | undefined)[]): Buffer =>
  Buffer.concat(events.flatMap((event) => (event === undefined ? [] : [releasedLine(event.line), Buffer.from('\n')])));
