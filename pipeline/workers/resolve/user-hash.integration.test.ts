import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createSecretBox, userHashSecretContext } from '../../../shared/contracts/config/secrets.ts';
import { testLiveConfig } from '../../../shared/testing/test-account-config.ts';
import { readIdentityCounts } from '../../../shared/visitors/identity-counts.ts';
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

const secret = 'src_secret_of_the_web_source';
const box = createSecretBox(randomBytes(32).toString('base64'));
const hashOf = (identifier: string, key = secret): string =>
  createHmac('sha256', key).update(identifier, 'utf8').digest('hex');

async function resolve(events: readonly TestEvent[]) {
  const account = randomUUID();
  const sealed = box.seal(secret, userHashSecretContext(account, web));
  const config = testLiveConfig({ sources }, { accountId: account, sourceSecrets: [{ sourceId: web, sealed }] });
  const plan = compileResolvePlan(config, undefined, box);
  const resolver = await rig.start(0, { plans: () => plan });
  for (const [index, event] of events.entries()) {
    const { resolved } = resolver.stats();
    await rig.send(0, [{ id: `event-${index}`, ...event, account }]);
    await vi.waitFor(() => expect(resolver.stats().resolved).toBe(resolved + 1), { timeout: 45_000, interval: 10 });
  }
  await resolver.stop(5_000);
  const visitors = createVisitorStore(rig.pool);
  const since = new Date(Date.now() - 3_600_000);
  return {
    stats: resolver.stats(),
    counted: await readIdentityCounts(rig.pool, account, { since, sourceId: undefined, limit: 100 }),
    written: await rig.written(account),
    find: async (externalId: string) => visitors.find(account, { externalId }),
    findBy: visitors.find.bind(visitors, account),
  };
}

const event = (source: string, body: TestEvent['body']): TestEvent => ({ source, body: { event: 'E', ...body } });
const owned = event(server, { externalId: 'c-1', userProperties: { email: 'owner@example.com', phone_number: '+41' } });
const change = (userHash: unknown, id: TestEvent['body'] = { externalId: 'c-1' }): TestEvent =>
  event(web, { ...id, userHash, userProperties: { email: 'new@example.com' } });

test('userHash: an event of a public key with the right hash overwrites what a server has set', async () => {
  const { stats, find, written } = await resolve([owned, change(hashOf('c-1'))]);
  expect((await find('c-1'))?.properties).toMatchObject({ email: 'new@example.com', phone_number: '+41' });
  expect(stats).toMatchObject({ user_hashes_refused: 0, server_values_kept: 0 });
  // The hash proves who sent the event; no destination needs it.
  expect(JSON.stringify(written)).not.toContain(hashOf('c-1'));
  // A value set with a hash counts as set by a server, so an event without a hash no longer changes it.
  const after = await resolve([
    owned,
    change(hashOf('c-1').toUpperCase()),
    event(web, { externalId: 'c-1', email: 'x@evil.example' }),
  ]);
  expect((await after.find('c-1'))?.properties['email']).toBe('new@example.com');
});

test.each([
  ['of another identifier', hashOf('c-2'), 1],
  ['with another secret', hashOf('c-1', 'guessed'), 1],
  ['that is no hash', 'c-1', 1],
  ['that is empty', '', 1],
  ['that is a number', 42, 0],
  ['that is null', null, 0],
])('userHash: a hash %s gives no server rights, and a wrong text is counted', async (_, userHash, refused) => {
  const { stats, find } = await resolve([owned, change(userHash)]);
  expect((await find('c-1'))?.properties).toMatchObject({ email: 'owner@example.com' });
  expect(stats).toMatchObject({ user_hashes_refused: refused, server_values_kept: 1, resolved: 2 });
});

test('userHash: without an externalId the hash signs the userId, else the normalized e-mail address', async () => {
  const byUser = await resolve([
    event(server, { userId: 'u-1', userProperties: { phone_number: '+41' } }),
    event(web, { userId: 'u-1', userHash: hashOf('u-1'), userProperties: { phone_number: '+49' } }),
  ]);
  expect((await byUser.findBy({ id: 'u-1' }))?.properties).toMatchObject({ phone_number: '+49' });
  const byEmail = await resolve([
    event(server, { email: 'ada@example.com', userProperties: { phone_number: '+41' } }),
    event(web, {
      email: ' Ada@Example.com',
      userHash: hashOf('ada@example.com'),
      userProperties: { phone_number: '+49' },
    }),
  ]);
  expect((await byEmail.findBy({ email: 'ada@example.com' }))?.properties).toMatchObject({ phone_number: '+49' });
  expect([byUser.stats, byEmail.stats]).toMatchObject([{ user_hashes_refused: 0 }, { user_hashes_refused: 0 }]);
});

test('userHash: a hash signs one identifier, so it cannot merge two known people or take a device that a server identified', async () => {
  const { find, stats, findBy } = await resolve([
    owned,
    event(server, { userId: 'till-7', externalId: 'victim' }),
    event(web, {
      event: '$alias',
      userId: 'c-1',
      externalId: 'c-1',
      userHash: hashOf('c-1'),
      userProperties: { external_id: 'victim' },
    }),
    event(web, { userId: 'till-7', externalId: 'c-1', userHash: hashOf('c-1') }),
  ]);
  expect((await find('victim'))?.id).not.toBe((await find('c-1'))?.id);
  expect((await findBy({ id: 'till-7' }))?.externalIds).toEqual(['victim']);
  expect(stats['people_kept_apart']).toBe(2);
  expect(stats['user_hashes_refused']).toBe(0);
});

test('userHash: an event of a test key changes no visitor, even with the right hash', async () => {
  const { find } = await resolve([owned, { ...change(hashOf('c-1')), test: true }]);
  expect((await find('c-1'))?.properties['email']).toBe('owner@example.com');
});

test('identity counts: values not applied to a visitor are counted by source and reason, and written when a resolver ends', async () => {
  const { counted } = await resolve([
    owned,
    change(hashOf('c-2')),
    change('wrong'),
    event(web, { externalId: 'undefined', userId: 'browser' }),
    event(server, { userId: 'u', externalId: 'c-5', userProperties: { external_id: 'c-6' } }),
    { ...change('wrong'), at: Date.now() - 7_200_000 },
  ]);
  expect(counted.map(({ sourceId, reason, count }) => [sourceId, reason, count])).toEqual([
    [web, 'notOverwritten', 2],
    [web, 'userHash', 2],
    [server, 'keptApart', 1],
    [web, 'blocked', 1],
  ]);
  expect(counted[0]?.lastAt.getTime()).toBeGreaterThan(Date.now() - 600_000);
});
