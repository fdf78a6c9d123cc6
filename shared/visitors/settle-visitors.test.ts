import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planVisitors } from './plan-visitors.ts';
import { settleAll, settleVisitors } from './settle-visitors.ts';
import { known, stored, touch } from './testing/planned-visitors.ts';
import { VisitorCache } from './visitor-cache.ts';
import type { IdentityKind } from './visitor-identity.ts';
import type { StoredVisitor } from './visitor-rows.ts';
import type { KeyTrust, VisitorTouch } from './visitor-store.ts';

const accountId = '0d7c3c34-8a3f-4a58-9d55-6a8f6f0f6f10';
const newVisitorId = (): string => 'new';

type Identity = readonly [kind: IdentityKind, value: string, owner: string];

/** The visitor of an event by the cache alone, if it decides, and by a plan from the same rows. */
function decide(visitors: readonly StoredVisitor[], identities: readonly Identity[], event: VisitorTouch) {
  const rows = visitors.map((row) => ({ ...row, accountId }));
  const cache = new VisitorCache(1_000_000);
  cache.beginFollowing();
  const reading = cache.beginReading();
  for (const row of rows) cache.take(row, reading);
  for (const [kind, value, id] of identities) {
    const owner = rows.find((row) => row.id === id);
    if (owner !== undefined) cache.takeIdentity(kind, value, owner);
  }
  const one = { ...event, accountId };
  const from = known(
    rows,
    identities.map(([kind, value, id]) => [kind, value, id]),
  );
  const plan = planVisitors([one], () => from, { propertiesBytesMax: 10_000, newVisitorId });
  return { settled: settleAll([one], cache), plan };
}

const visitor = (id: string, externalId: string | undefined, own: Parameters<typeof stored>[1]) =>
  stored(id, {
    ...own,
    ...(externalId === undefined ? {} : { properties: { external_id: externalId }, externalIds: 1 }),
  });

test('settled visitors: an event that the cache settles would write nothing, also if a person is signed in on its device', () => {
  const bits = fc.constantFrom(0, 1, 8, 9);
  const people = fc.record({ ofX: fc.constantFrom(0, 1), ofZ: fc.constantFrom(0, 1) });
  const device = fc.record({
    isKnown: fc.boolean(),
    signedInAs: fc.constantFrom(undefined, 'x1', 'z1', 'gone'),
    setByServer: bits,
    mergedInto: fc.constantFrom(undefined, undefined, 'x1'),
  });
  const event = fc.record({
    userId: fc.constantFrom(undefined, 'd'),
    externalIds: fc.constantFrom([], ['x'], ['y'], ['z'], ['x', 'x2']),
    sentWith: fc.constantFrom<KeyTrust>('server', 'signed', 'public', 'test'),
  });
  let count = 0;
  fc.assert(
    fc.property(device, people, event, ({ isKnown, ...own }, { ofX, ofZ }, { sentWith, ...claim }) => {
      const rows = [
        visitor('d', isKnown && own.mergedInto === undefined ? 'y' : undefined, own),
        visitor('x1', 'x', { setByServer: ofX }),
        visitor('z1', 'z', { setByServer: ofZ }),
      ];
      const identities: Identity[] = [
        ['external_id', 'x', 'x1'],
        ['external_id', 'x2', 'x1'],
        ['external_id', 'z', 'z1'],
        ...(isKnown ? [['external_id', 'y', 'd'] as const] : []),
      ];
      const { settled, plan } = decide(rows, identities, { ...touch(claim), sentWith });
      if (settled === undefined) return;
      count += 1;
      expect(settled).toEqual(plan.outcomes);
      expect(plan).toMatchObject({ writes: [], newIdentities: [], merges: [], cleared: [] });
    }),
    { numRuns: 1_000 },
  );
  // Otherwise this would hold for a cache that settles nothing.
  expect(count).toBeGreaterThan(50);
});

test('settled visitors: the cache settles no event that was received before or at an erasure or, in an account with suppressions, names an identifier outside its claim', () => {
  const row = { ...visitor('d', undefined, {}), accountId };
  const cache = new VisitorCache(1_000_000);
  cache.beginFollowing();
  cache.take(row, cache.beginReading());
  const plain = { ...touch({ userId: 'd' }), accountId };
  const unclaimed = [{ kind: 'email', value: 'ada@example.com' }] as const;
  const settled = (event: VisitorTouch, hasSuppressions: boolean, newestAtMs = event.receivedAtMs - 1) =>
    settleVisitors([event], cache, new Map([[accountId, { newestAtMs, hasSuppressions }]]));
  expect(settled(plain, true)).toMatchObject([{ id: 'd' }]);
  expect(settled(plain, false, plain.receivedAtMs)).toEqual([undefined]);
  expect(settled({ ...plain, unclaimed }, false)).toMatchObject([{ id: 'd' }]);
  expect(settled({ ...plain, unclaimed }, true)).toEqual([undefined]);
});

test('settled visitors: a server’s sign-in on a device is recorded once, and a public key then signs no other person in', () => {
  const signIn = touch({ userId: 'd', externalIds: ['x'] });
  const identities: Identity[] = [
    ['external_id', 'x', 'x1'],
    ['external_id', 'y', 'd'],
  ];
  const x = visitor('x1', 'x', { setByServer: 1 });
  const signedIn = (setByServer: number) => visitor('d', 'y', { signedInAs: 'x1', setByServer });
  const first = decide([signedIn(0), x], identities, signIn);
  expect(first.settled).toBeUndefined();
  expect(first.plan.writes).toMatchObject([{ id: 'd', signedInAs: 'x1', setByServer: 8 }]);
  expect(decide([signedIn(8), x], identities, signIn).settled).toMatchObject([{ id: 'x1' }]);
  const other = { ...touch({ userId: 'd', externalIds: ['z'] }), sentWith: 'public' } as const;
  const people = [x, visitor('z1', 'z', {})];
  const after = decide([signedIn(8), ...people], [...identities, ['external_id', 'z', 'z1']], other);
  expect(after.plan).toMatchObject({ outcomes: [{ id: 'z1', leftOut: { notOverwritten: 1 } }], writes: [] });
});
