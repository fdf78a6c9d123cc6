import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { encodeHashes, hashWithoutGroup, ungroupedIdsHeader } from '../../../shared/contracts/events/event-hash.ts';
import type { ResolvedEvent } from '../../../shared/contracts/events/resolved-event.ts';
import { eventsSubject } from '../../../shared/contracts/subjects.ts';
import { publish } from '../../../shared/nats/publish/publisher.ts';
import { testLiveConfig } from '../../../shared/testing/test-account-config.ts';
import { createVisitorStore } from '../../../shared/visitors/postgres-visitor-store.ts';
import type { FoundVisitor, VisitorKey } from '../../../shared/visitors/visitor-store.ts';
import { compileResolvePlan } from './resolve-plan.ts';
import { openIdentityRig, server, sources, web } from './testing/identity-rig.ts';
import type { ResolverRig, TestEvent } from './testing/resolver-rig.ts';

let rig: ResolverRig;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ rig, close } = await openIdentityRig());
});
afterAll(() => close?.());

const plan = compileResolvePlan(testLiveConfig({ sources }));

/** Resolves events of a new account, each before the next one is sent; returns the results. */
async function resolve(events: readonly TestEvent[], partition = 0) {
  const account = randomUUID();
  const resolver = await rig.start(partition, { plans: () => plan });
  for (const [index, event] of events.entries()) {
    const { resolved, duplicates } = resolver.stats();
    await rig.send(partition, [{ ...event, id: event.id ?? `event-${index}`, account }]);
    await vi.waitFor(
      () => {
        const now = resolver.stats();
        expect(now.resolved + now.duplicates).toBe(resolved + duplicates + 1);
      },
      { timeout: 45_000, interval: 10 },
    );
  }
  await resolver.stop(5_000);
  const visitors = createVisitorStore(rig.pool);
  return {
    account,
    stats: resolver.stats(),
    written: await rig.written(account),
    find: (key: VisitorKey): Promise<FoundVisitor | undefined> => visitors.find(account, key),
  };
}

const identify = (source: string, body: TestEvent['body']): TestEvent => ({ source, kind: 'identify', body });
const track = (source: string, body: TestEvent['body']): TestEvent => ({ source, body: { event: 'E', ...body } });
const visitorsOf = (written: readonly ResolvedEvent[]) => written.map(({ visitor }) => visitor);

test('people: two people who share a browser are not merged, and no event of one carries data of the other', async () => {
  const { written, find, stats } = await resolve([
    track(web, { userId: 'browser-1' }),
    identify(web, {
      userId: 'browser-1',
      externalId: 'alice-1',
      userProperties: { email: 'alice@example.com', first_name: 'Alice' },
    }),
    track(web, { userId: 'browser-1', externalId: 'alice-1' }),
    identify(web, {
      userId: 'browser-1',
      externalId: 'bob-1',
      userProperties: { email: 'bob@example.com', first_name: 'Bob' },
    }),
    track(server, { externalId: 'alice-1' }),
    track(web, { userId: 'browser-1' }),
  ]);
  const [first, , , bob, alice, last] = visitorsOf(written);
  expect(alice).toMatchObject({ id: first?.id, email: 'alice@example.com', first_name: 'Alice' });
  expect(bob).toMatchObject({ email: 'bob@example.com', first_name: 'Bob' });
  expect(last).toEqual(bob);
  expect(bob?.id).not.toBe(alice?.id);
  expect(await find({ externalId: 'alice-1' })).toMatchObject({
    externalIds: ['alice-1'],
    emails: ['alice@example.com'],
  });
  expect(await find({ externalId: 'bob-1' })).toMatchObject({ externalIds: ['bob-1'], emails: ['bob@example.com'] });
  expect((await find({ userId: 'browser-1' }))?.id).toBe(bob?.id);
  expect((await find({ id: 'browser-1' }))?.id).toBe(alice?.id);
  expect(stats['people_kept_apart']).toBe(1);
});

test.each(['undefined', 'null', '[object Object]', '00000000-0000-0000-0000-000000000000', '(Not set)', 'XXXXX'])(
  'people: the placeholder %s identifies no visitor, whichever identifier field of an event contains it',
  async (none) => {
    const { written, stats, find } = await resolve([
      identify(web, { userId: none, externalId: 'carl-3', userProperties: { email: 'carl@example.com' } }),
      identify(web, { userId: none, externalId: 'dora-3', userProperties: {} }),
      track(server, { externalId: none, email: 'erik@example.com' }),
      track(server, { externalId: none, userProperties: { external_id: none, email: none } }),
      track(server, { userId: none }),
      {
        source: server,
        body: { event: '$alias', userId: none, externalId: none, userProperties: { external_id: 'carl-3' } },
      },
    ]);
    const ids = visitorsOf(written).map(({ id }) => id);
    expect(new Set(ids).size).toBe(5);
    expect(ids[5]).toBe(ids[0]);
    expect(await find({ externalId: none })).toBeUndefined();
    expect(await find({ userId: none })).toBeUndefined();
    expect(stats['placeholder_identifiers']).toBe(9);
  },
);

test('people: an alias sent by a server merges two known people', async () => {
  const aliasBody = {
    event: '$alias',
    userId: 'old-7',
    externalId: 'old-7',
    userProperties: { external_id: 'new-7' },
  };
  const events = [
    identify(server, { userId: 'anon-7', externalId: 'old-7', userProperties: { email: 'nina@example.com' } }),
    track(server, { externalId: 'new-7' }),
  ];
  const { find, written } = await resolve([
    ...events,
    { source: server, body: aliasBody },
    track(server, { externalId: 'old-7' }),
    track(server, { externalId: 'new-7' }),
    track(server, { userId: 'anon-7' }),
  ]);
  expect(new Set(visitorsOf(written.slice(2)).map(({ id }) => id)).size).toBe(1);
  const merged = await find({ externalId: 'new-7' });
  expect(merged?.externalIds.toSorted()).toEqual(['new-7', 'old-7']);
  const refused = await resolve([...events, { source: web, body: aliasBody }]);
  expect((await refused.find({ externalId: 'old-7' }))?.id).not.toBe((await refused.find({ externalId: 'new-7' }))?.id);
  expect(refused.stats['people_kept_apart']).toBe(1);
});

test('people: a public key does not overwrite the e-mail address that a server has set', async () => {
  const { written, find, stats } = await resolve([
    identify(server, {
      userId: 'user-42',
      externalId: 'cust-42',
      userProperties: { email: 'owner@example.com', phone_number: '+41' },
    }),
    identify(web, {
      externalId: 'cust-42',
      email: 'attacker@evil.example',
      userProperties: { phone_number: null, external_id: null, first_name: 'Eve' },
    }),
    identify(web, { userId: 'user-42', externalId: 'mallory', userProperties: { email: 'attacker@evil.example' } }),
    track(server, { externalId: 'cust-42', event: 'Password Reset Requested' }),
    track(server, { userId: 'user-42', event: 'Password Reset Requested' }),
  ]);
  const owner = { external_id: 'cust-42', email: 'owner@example.com', phone_number: '+41', first_name: 'Eve' };
  for (const visitor of visitorsOf(written.slice(3))) expect(visitor).toMatchObject(owner);
  expect(await find({ externalId: 'cust-42' })).toMatchObject({ properties: owner, emails: ['owner@example.com'] });
  expect(stats['server_values_kept']).toBe(2);
  // The internal record of who set which value is not written as a property.
  expect(JSON.stringify(written)).not.toMatch(/server_set|set_by_server|setByServer/);
});

test('people: a test key changes no live visitor, and its values appear only in its own event', async () => {
  const { account, written, find } = await resolve([
    identify(server, { userId: 'u', externalId: 'c-1', userProperties: { first_name: 'Ada' } }),
    { ...identify(server, { externalId: 'c-1', userProperties: { first_name: 'TEST', email: 't@e.st' } }), test: true },
    { ...track(server, { userId: 'u', externalId: 'c-2' }), test: true },
    { ...track(server, { userId: 'tried' }), test: true },
    track(server, { externalId: 'c-1' }),
  ]);
  const [live, tried, , unknown, after] = visitorsOf(written);
  expect(tried).toMatchObject({ id: 'u', first_name: 'TEST', email: 't@e.st' });
  expect(unknown).toMatchObject({ id: 'tried' });
  expect(after).toEqual(live);
  const { rows } = await rig.pool.query('select id from visitors where account_id = $1', [account]);
  expect(rows).toEqual([{ id: 'u' }]);
  for (const key of [{ email: 't@e.st' }, { externalId: 'c-2' }, { id: 'tried' }]) {
    expect(await find(key)).toBeUndefined();
  }
});

test('deduplication: the same id from the test key or another source is a different event; a retry by the same source is a duplicate', async () => {
  const body = { userId: 'u' };
  const { written, stats } = await resolve([
    { ...track(server, body), id: 'order-1', test: true },
    { ...track(web, body), id: 'order-1' },
    { ...track(server, body), id: 'order-1' },
    { ...track(server, body), id: 'order-1' },
    { ...track(web, body), id: 'order-1' },
    { ...track(server, body), id: 'order-1', test: true },
  ]);
  expect(written.map(({ event }) => [event.source_id, event.test])).toEqual([
    [server, true],
    [web, false],
    [server, false],
  ]);
  expect(stats['duplicates']).toBe(3);
});

test('deduplication: an id that the previous build resolved is still a duplicate after an upgrade', async () => {
  const account = randomUUID();
  const claim = { userId: 'u', externalIds: ['c-1'], emails: [] };
  await publish(rig.connection, eventsSubject(account, 3), Buffer.from('of the previous build'), {
    msgId: randomUUID(),
    headers: { [ungroupedIdsHeader]: encodeHashes([hashWithoutGroup(account, 'order-1', claim)]) },
    timeoutMs: 5_000,
  });
  const body = { event: 'E', userId: 'u', externalId: 'c-1' };
  await rig.send(3, [
    { account, source: server, id: 'order-1', body },
    { account, source: server, id: 'order-2', body },
  ]);
  const resolver = await rig.start(3, { plans: () => plan });
  await vi.waitFor(() => expect(resolver.stats()).toMatchObject({ events: 2, resolved: 1, duplicates: 1 }), {
    timeout: 45_000,
    interval: 10,
  });
  await resolver.stop(5_000);
});
