import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { IdentitySettings } from '../../../shared/contracts/config/identity-settings.ts';
import { testLiveConfig } from '../../../shared/testing/test-account-config.ts';
import { createVisitorStore } from '../../../shared/visitors/postgres-visitor-store.ts';
import { compileResolvePlan } from './resolve-plan.ts';
import { openIdentityRig, server, sources, web } from './testing/identity-rig.ts';
import type { ResolverRig, TestEvent } from './testing/resolver-rig.ts';

let rig: ResolverRig;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ rig, close } = await openIdentityRig());
});
afterAll(() => close?.());

const planOf = (identity: unknown) => compileResolvePlan(testLiveConfig({ sources }, { identity }));

type Step = TestEvent | { readonly set: Partial<IdentitySettings> };

/** Resolves events of a new account one after the other, while its settings change; returns the results. */
async function resolve(identity: unknown, steps: readonly Step[]) {
  const account = randomUUID();
  let plan = planOf(identity);
  const resolver = await rig.start(0, { plans: () => plan });
  for (const [index, step] of steps.entries()) {
    if ('set' in step) {
      plan = planOf(step.set);
      continue;
    }
    const { resolved, duplicates } = resolver.stats();
    await rig.send(0, [{ id: `event-${index}`, ...step, account }]);
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
  const written = await rig.written(account);
  return {
    stats: resolver.stats(),
    visitors: written.map(({ visitor }) => visitor),
    ids: written.map(({ visitor }) => visitor.id),
    find: (externalId: string) => visitors.find(account, { externalId }),
    findEmail: (email: string) => visitors.find(account, { email }),
    findId: (id: string) => visitors.find(account, { id }),
  };
}

const event = (source: string, body: TestEvent['body'], more: Partial<TestEvent> = {}): TestEvent => ({
  source,
  body: { event: 'E', ...body },
  ...more,
});

test('identity settings: a value that the account blocks identifies no visitor, in any letter case and in any brackets', async () => {
  const blockedValues = ['House Account', 'walk-in@shop.example'];
  const { ids, visitors, stats, find, findEmail } = await resolve({ blockedValues }, [
    event(server, { userId: 'device-1', externalId: ' [house account] ' }),
    event(server, { userId: 'device-2', externalId: 'HOUSE ACCOUNT' }),
    event(server, {
      userId: 'device-3',
      userProperties: { external_id: 'house account', email: 'Walk-in@shop.example' },
    }),
    event(server, { userId: 'device-4', email: 'walk-in@shop.example' }),
    event(server, { userId: 'device-5', externalId: 'house account 2' }),
  ]);
  expect(ids.slice(0, 4)).toEqual(['device-1', 'device-2', 'device-3', 'device-4']);
  for (const visitor of visitors.slice(0, 4)) expect(visitor).not.toHaveProperty('external_id');
  expect(visitors[2]).not.toHaveProperty('email');
  expect(await find('house account')).toBeUndefined();
  expect(await findEmail('walk-in@shop.example')).toBeUndefined();
  expect((await find('house account 2'))?.id).toBe('device-5');
  expect(stats['placeholder_identifiers']).toBe(5);
});

test('identity settings: a change applies from the next event on, and an event sent again after the change counts once', async () => {
  const order = event(server, { userId: 'device-1', externalId: 'shared' }, { id: 'order-1' });
  const { ids, stats, find } = await resolve(undefined, [
    order,
    { set: { blockedValues: ['shared'] } },
    order,
    event(server, { userId: 'device-2', externalId: 'shared' }),
  ]);
  expect(ids).toEqual(['device-1', 'device-2']);
  expect(stats['duplicates']).toBe(1);
  // A visitor keeps a value that it already had when the value was blocked.
  expect((await find('shared'))?.id).toBe('device-1');
});

test('identity settings: an e-mail address identifies a visitor unless the account turns this off, and is a property either way', async () => {
  const events = [event(server, { email: 'a@example.com' }), event(server, { email: 'a@example.com' })];
  const usual = await resolve({ emailIdentifies: true }, events);
  expect(new Set(usual.ids).size).toBe(1);
  const { ids, visitors, findEmail } = await resolve({ emailIdentifies: false }, events);
  expect(new Set(ids).size).toBe(2);
  for (const visitor of visitors) expect(visitor).toMatchObject({ email: 'a@example.com' });
  expect(await findEmail('a@example.com')).toBeUndefined();
});

test('identity settings: a visitor has one externalId, or as many as the account allows; two known people are not merged', async () => {
  const events = [
    event(server, { externalId: 'known-elsewhere' }),
    event(server, { userId: 'device', externalId: 'c-1' }),
    event(server, { userId: 'device', externalId: 'c-2' }),
    event(server, { userId: 'device', externalId: 'known-elsewhere' }),
    event(server, { userId: 'device-2', externalId: 'c-1', userProperties: { external_id: 'c-3' } }),
    event(server, { userId: 'device', externalId: 'c-4' }),
  ];
  const one = await resolve(undefined, events);
  expect((await one.find('c-1'))?.externalIds).toEqual(['c-1']);
  expect(new Set([one.ids[0], one.ids[1], one.ids[2], one.ids[5]]).size).toBe(4);
  const three = await resolve({ externalIdsMax: 3 }, events);
  expect((await three.find('c-1'))?.externalIds.toSorted()).toEqual(['c-1', 'c-2', 'c-3']);
  expect(three.ids[2]).toBe(three.ids[1]);
  expect((await three.find('known-elsewhere'))?.externalIds).toEqual(['known-elsewhere', 'c-4']);
  expect(three.stats['people_kept_apart']).toBe(1);
  // An event sent with a public key adds no identifier to a person that a server has named.
  const added = await resolve({ externalIdsMax: 3 }, [
    event(server, { userId: 'device', externalId: 'c-1' }),
    event(web, { userId: 'device', externalId: 'c-2' }),
  ]);
  expect(added.ids[1]).not.toBe(added.ids[0]);
});

test('identity settings: public keys overwrite what servers have set, and merge known people, where the account allows it', async () => {
  const events = [
    event(server, { externalId: 'c-1', userProperties: { email: 'owner@example.com' } }),
    event(web, { externalId: 'c-1', userProperties: { email: 'new@example.com' } }),
    event(server, { externalId: 'c-2' }),
    event(web, { event: '$alias', userId: 'c-1', externalId: 'c-1', userProperties: { external_id: 'c-2' } }),
  ];
  const usual = await resolve({}, events);
  expect((await usual.find('c-1'))?.properties['email']).toBe('owner@example.com');
  expect((await usual.find('c-2'))?.id).not.toBe((await usual.find('c-1'))?.id);
  expect(usual.stats).toMatchObject({ server_values_kept: 1, people_kept_apart: 1 });
  const allowed = await resolve({ publicKeysOverwrite: true }, events);
  expect((await allowed.find('c-1'))?.properties['email']).toBe('new@example.com');
  expect((await allowed.find('c-2'))?.id).toBe((await allowed.find('c-1'))?.id);
  expect(allowed.stats).toMatchObject({ server_values_kept: 0, people_kept_apart: 0 });
});

test('identity settings: an identifier over the limit of its kind is not added to the visitor; its event is accepted, its device signed in', async () => {
  const { ids, stats, find, findEmail, findId } = await resolve({ emailsMax: 2, userIdsMax: 2 }, [
    event(server, { externalId: 'c-1', email: 'a@example.com' }),
    event(server, { externalId: 'c-1', email: 'b@example.com' }),
    event(server, { externalId: 'c-1', email: 'c@example.com' }),
    event(server, { email: 'c@example.com' }),
    event(server, { userId: 'd-1' }),
    event(server, { userId: 'd-1', externalId: 'c-1' }),
    event(server, { userId: 'd-2' }),
    event(server, { userId: 'd-2', externalId: 'c-1' }),
    event(server, { userId: 'd-2' }),
    event(server, { userId: 'd-2', externalId: 'c-9' }),
    event(server, { userId: 'd-2' }),
    // Together, these two visitors would have three e-mail addresses.
    event(server, { userId: 'd-3', email: 'e@example.com' }),
    event(server, { userId: 'd-3', externalId: 'c-1' }),
    event(server, { userId: 'd-3' }),
  ]);
  const person = await find('c-1');
  expect(person).toMatchObject({ id: ids[0], aliases: ['d-1'], properties: { email: 'c@example.com' } });
  expect(person?.emails.toSorted()).toEqual(['a@example.com', 'b@example.com']);
  expect(await findEmail('c@example.com')).toMatchObject({ id: ids[3] });
  expect(ids[3]).not.toBe(ids[2]);
  expect([ids[7], ids[8], ids[12], ids[13]]).toEqual([ids[0], ids[0], ids[0], ids[0]]);
  expect(ids[9]).toBe(ids[10]);
  expect(ids[9]).not.toBe(person?.id);
  // Each device keeps its own visitor.
  expect([(await findId('d-2'))?.id, (await findId('d-3'))?.id]).toEqual(['d-2', 'd-3']);
  expect(stats['identifiers_over_limit']).toBe(3);
  expect(stats['visitors_full']).toBe(0);
});

test('identity settings: the identifier kind ranked first decides the visitor of an event and merges no visitors, with any key', async () => {
  const events = [
    event(server, { externalId: 'c-1', email: 'a@example.com' }),
    event(server, { externalId: 'c-2', email: 'b@example.com' }),
    event(server, { externalId: 'c-2', email: 'a@example.com' }),
    event(server, { userId: 'd-1', email: 'b@example.com' }),
    event(server, { userId: 'd-1' }),
    event(server, { externalId: 'c-3', email: 'a@example.com' }),
    event(server, { email: 'n@example.com' }),
    event(server, { externalId: 'c-4', email: 'n@example.com' }),
    event(server, { externalId: 'c-4' }),
    event(web, { email: 'm@example.com' }),
    event(web, { externalId: 'c-5', email: 'm@example.com' }),
  ];
  const usual = await resolve({}, events);
  const [first, second] = usual.ids;
  expect(usual.ids.slice(2, 5)).toEqual([second, 'd-1', 'd-1']);
  expect(new Set([first, ...usual.ids.slice(5, 8), ...usual.ids.slice(9)]).size).toBe(6);
  // Here the e-mail address ranks below the externalId and above the device.
  const middle = await resolve({ priority: ['externalId', 'email', 'userId'] }, events);
  expect(middle.ids.slice(2, 5)).toEqual([middle.ids[1], middle.ids[1], middle.ids[1]]);
  expect(middle.ids[5]).not.toBe(middle.ids[0]);
  const turned = await resolve({ priority: ['email', 'externalId', 'userId'] }, events);
  const [ann, bob, , , , , news, , , visit] = turned.ids;
  expect(turned.ids).toEqual([ann, bob, ann, bob, bob, ann, news, news, news, visit, visit]);
  expect(new Set([ann, bob, news, visit]).size).toBe(4);
  expect(await turned.find('c-1')).toMatchObject({ id: ann, externalIds: ['c-1'], properties: { external_id: 'c-1' } });
  expect(await turned.find('c-2')).toMatchObject({ id: bob, externalIds: ['c-2'] });
  expect(await turned.find('c-4')).toMatchObject({ id: news, externalIds: ['c-4'] });
  expect([await turned.find('c-3'), await turned.find('c-5')]).toEqual([undefined, undefined]);
  expect(await turned.findId(visit ?? '')).toMatchObject({ externalIds: [] });
  expect(turned.stats).toMatchObject({ people_kept_apart: 3, visitors_merged: 0 });
});
