import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { followErasures } from '../../../shared/nats/erasures/follow-erasures.ts';
import type { FollowedErasures } from '../../../shared/nats/erasures/follow-erasures.ts';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { migrate } from '../../../shared/postgres/migrate.ts';
import { createTestDatabase, startTestNats } from '../../../shared/testing/servers.ts';
import type { TestDatabase } from '../../../shared/testing/servers.ts';
import { testLiveConfig } from '../../../shared/testing/test-account-config.ts';
import { createVisitorStore } from '../../../shared/visitors/postgres-visitor-store.ts';
import { VisitorProperties } from '../../../shared/visitors/visitor-properties.ts';
import { until } from '../../../shared/testing/until.ts';
import { compileResolvePlan } from './resolve-plan.ts';
import { createWithdrawals } from './withdrawals.ts';
import { createResolverRig } from './testing/resolver-rig.ts';
import type { ResolverRig, TestEvent } from './testing/resolver-rig.ts';

let nats: NatsServer;
let database: TestDatabase;
let rig: ResolverRig;
let erasures: FollowedErasures;

beforeAll(async () => {
  [nats, database] = await Promise.all([startTestNats(), createTestDatabase()]);
  await migrate(database.url);
  rig = await createResolverRig(nats.url, database.url);
  erasures = followErasures({ connection: rig.pipelineConnection, onError: () => undefined });
});
afterAll(async () => {
  await erasures?.stop();
  await rig?.close();
  await nats?.stop();
  await database?.drop();
});

const web = 'source-web';
const purpose = {
  id: 'ads',
  name: 'Ads',
  isEnabled: true,
  defaultState: 'Granted',
  regions: null,
  destinationIds: ['d'],
  signals: { gpc: 'deny' },
};
const plan = compileResolvePlan(
  testLiveConfig({ sources: [{ id: web, type: 'WebSource', status: 'Enabled' }], consentSettings: [purpose] }),
);

const identify = (userId: string, consent: unknown, own: Partial<TestEvent> = {}): TestEvent => ({
  kind: 'identify',
  source: web,
  body: { userId, userProperties: { consent } },
  ...own,
});
const track = (body: TestEvent['body'], own: Partial<TestEvent> = {}): TestEvent => ({
  source: web,
  body: { event: 'E', ...body },
  ...own,
});

/** Resolves events one after the other. */
async function resolve(events: readonly TestEvent[], account: string = randomUUID()) {
  const visitors = createVisitorStore(rig.pool);
  const logger = pino({ level: 'silent' });
  const withdrawals = createWithdrawals({
    connection: rig.pipelineConnection,
    visitors,
    erasures,
    plans: () => plan,
    logger,
  });
  const resolver = await rig.start(0, { plans: () => plan, visitors, withdrawals });
  for (const [index, event] of events.entries()) {
    const { resolved } = resolver.stats();
    await rig.send(0, [{ ...event, id: event.id ?? `event-${index}`, account }]);
    await until('it is resolved', () => resolver.stats().resolved > resolved);
  }
  await resolver.stop(5_000);
  const isDenied = (visitorId: string, of = account): boolean =>
    erasures.lastWords(of, { visitorId, receivedAtMs: Date.now() })?.get('ads')?.isDenial === true;
  return { account, written: await rig.written(account), isDenied };
}

test('consent: a refusal is announced only for its own visitor, and a later grant withdraws it', async () => {
  const { written, isDenied } = await resolve([
    identify('ann', { ads: false }),
    identify('bob', { ads: true }),
    identify('tim', { ads: false }),
    identify('tim', { ads: true }),
    identify('eve', { ads: false }, { test: true }),
  ]);
  const [ann = '', bob = '', tim = '', , eve = ''] = written.map(({ visitor }) => visitor.id);
  await until('it is known', () => isDenied(ann));
  await until('it is taken back', () => !isDenied(tim));
  expect([isDenied(bob), isDenied(eve), isDenied(ann, randomUUID())]).toEqual([false, false, false]);
});

test('consent: a refusal also holds for earlier ids of the visitor', async () => {
  const { written, isDenied } = await resolve([
    track({ userId: 'device' }),
    identify('phone', {}, { body: { userId: 'phone', externalId: 'person', userProperties: {} } }),
    track({ userId: 'device', externalId: 'person' }),
    identify('phone', { ads: false }),
  ]);
  const [device = '', phone = ''] = written.map(({ visitor }) => visitor.id);
  expect(device).not.toBe(phone);
  await until('it is known of both', () => isDenied(device) && isDenied(phone));
});

const personRefuses = { body: { externalId: 'person', userProperties: { consent: { ads: false } } } };
test.each<[name: string, before: readonly TestEvent[]]>([
  ['a device into a person who refused', [identify('', {}, personRefuses), track({ userId: 'device' })]],
  ['a person into an older device that refused', [identify('device', { ads: false }), track({ externalId: 'person' })]],
])('consent: after a merge of %s, the refusal holds for waiting events of both', async (_name, before) => {
  const { account, written, isDenied } = await resolve(before);
  const [refused = '', other = ''] = written.map(({ visitor }) => visitor.id);
  await until('the refusal is known', () => isDenied(refused));
  expect(isDenied(other)).toBe(false);
  const signIn = track({ userId: 'device', externalId: 'person' }, { id: 'sign-in' });
  const merged = await resolve([signIn], account);
  expect(merged.written.at(-1)?.visitor.id).toBe(refused);
  await until('it is known of both', () => isDenied(other));
});

test('consent: an offline grant of yesterday does not undo the refusal of today', async () => {
  const yesterday = Date.now() - 86_400_000;
  const { written, isDenied } = await resolve([
    identify('ann', { ads: false }),
    track({ userId: 'ann', time: yesterday, consent: { ads: true } }),
    identify('bob', { ads: false }),
  ]);
  const [ann = '', , bob = ''] = written.map(({ visitor }) => visitor.id);
  await until('what was announced last is known', () => isDenied(bob));
  expect(isDenied(ann)).toBe(true);
});

test('consent: an event has the consent sent with it, in any known format, and its visitor keeps it', async () => {
  const { written } = await resolve([
    track({ userId: 'a', consent: { Ads: true, stats: 'denied' } }),
    track({ userId: 'b', consent: { categoryPreferences: { C1: false } } }),
    track({ userId: 'c', consent: { allowedConsentIds: ['x'], deniedConsentIds: ['y'], resolutionStrategy: 'or' } }),
    track({ userId: 'd', consent: 'nonsense' }),
    track({ userId: 'e' }),
  ]);
  expect(written.map(({ event }) => event.consent)).toEqual([
    { ads: true, stats: false },
    { $segment: true, c1: false },
    { $rudderstack: true, $any: true, x: true, y: false },
    undefined,
    undefined,
  ]);
  expect(written.map(({ visitor }) => visitor['consent'])).toEqual([
    { ads: true, stats: false },
    { c1: false },
    { x: true, y: false },
    undefined,
    undefined,
  ]);
});

test('consent: any later event of a visitor announces the stored refusal again, since a crash may have lost it', () => {
  const withdrawals = createWithdrawals({
    connection: rig.pipelineConnection,
    visitors: createVisitorStore(rig.pool),
    erasures: { isCurrent: true, lastWords: () => undefined },
    plans: () => plan,
    logger: pino({ level: 'silent' }),
  });
  const touch = { accountId: 'a', claim: {} as never, receivedAtMs: 7, given: [], sentWith: 'public' as const };
  const properties = new VisitorProperties({ consent: { ads: false, stats: true } });
  expect(withdrawals.changesOf({ touch, saidAtMs: 5 }, { id: 'v', properties })).toEqual([
    { accountId: 'a', visitorIds: ['v'], words: { ads: false }, atMs: 7 },
  ]);
});

test('consent: when Global Privacy Control turns on, it is announced for the visitor’s waiting events, but not for a new visitor', async () => {
  const { account, written } = await resolve([
    track({ userId: 'ann' }),
    track({ userId: 'ann' }, { gpc: true }),
    track({ userId: 'new' }, { gpc: true }),
    track({ userId: 'bob' }),
    track({ userId: 'ann' }, { gpc: true }),
  ]);
  const [ann = '', , fresh = '', bob = ''] = written.map(({ visitor }) => visitor.id);
  const isOn = (visitorId: string): boolean =>
    erasures.lastWords(account, { visitorId, receivedAtMs: Date.now() })?.get('$gpc')?.isDenial === true;
  await until('it is known', () => isOn(ann));
  expect([isOn(fresh), isOn(bob)]).toEqual([false, false]);
});

test('consent: Global Privacy Control is kept with a visitor if a browser sends it, but not if a server source does', async () => {
  const { written } = await resolve([
    track({ userId: 'ann' }, { gpc: true }),
    track({ userId: 'ann', externalId: 'person' }, { source: 'source-server' }),
    track({ userId: 'bob' }, { source: 'source-server', gpc: true }),
  ]);
  expect(written.map(({ event, visitor }) => [event.consent, visitor['consent']])).toEqual([
    [{ $gpc: true }, { $gpc: true }],
    [undefined, { $gpc: true }],
    [undefined, undefined],
  ]);
});
