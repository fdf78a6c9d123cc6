import { expect, test } from 'vitest';
import type { JsonObject } from '../runtime/json.ts';
import { defaultIdentityLimits, exceedTogether, ranksEmailFirst } from './identity-limits.ts';
import { isErased } from './is-erased.ts';
import type { StoredVisitor } from './visitor-rows.ts';
import {
  deviceOf,
  identifiersOf,
  namedBy,
  stillNaming,
  storedIdentity,
  unstoredVisitorId,
} from './visitor-identity.ts';
import type { VisitorClaim } from './visitor-identity.ts';
import { timeKey } from './property-times.ts';
import { VisitorProperties } from './visitor-properties.ts';
import {
  becomeOne,
  causeOf,
  identifiersOfVisitor,
  isKnown,
  mergeOf,
  root,
  stateOf,
  workingOf,
} from './working-visitor.ts';

type Row = Partial<Omit<StoredVisitor, 'properties'>> & { readonly properties?: JsonObject };

const stored = (id: string, { properties = {}, ...more }: Row = {}): StoredVisitor => ({
  accountId: 'a',
  id,
  version: 1,
  createdAtUs: 1_000,
  updatedAtUs: 1_000,
  mergedInto: undefined,
  signedInAs: undefined,
  setByServer: 0,
  apart: [],
  externalIds: 0,
  emails: 0,
  aliases: 0,
  ...more,
  properties: new VisitorProperties(properties),
});
const working = (id: string, row: Row = {}) => workingOf(stored(id, row), undefined);
const claim = (own: Partial<VisitorClaim> = {}): VisitorClaim => ({
  userId: undefined,
  externalIds: [],
  emails: [],
  anonymousId: undefined,
  ...own,
});

test('merges: the older visitor survives; if equally old, the one with the smaller id; a stored visitor survives a new one', () => {
  const survivorOf = (a: Row, b: Row): string => mergeOf(working('a', a), working('b', b)).survivor.id;
  expect(survivorOf({ createdAtUs: 2 }, { createdAtUs: 1 })).toBe('b');
  expect(survivorOf({ createdAtUs: 1 }, { createdAtUs: 2 })).toBe('a');
  const [a, b] = [working('a'), working('b')];
  expect([mergeOf(a, b).survivor.id, mergeOf(b, a).survivor.id]).toEqual(['a', 'a']);
  const fresh = { ...working('0'), stored: undefined };
  expect(mergeOf(fresh, working('z')).survivor.id).toBe('z');
});

test('merges: between two values without times, the value written later stays, whichever visitor survives', () => {
  const of = (a: number, b: number): unknown =>
    mergeOf(
      working('a', { updatedAtUs: a, properties: { city: 'Oslo', zip: '1' } }),
      working('b', { updatedAtUs: b, properties: { city: 'Rome' } }),
    ).properties.value;
  expect(of(1, 2)).toEqual({ city: 'Rome', zip: '1' });
  expect(of(2, 1)).toEqual({ city: 'Oslo', zip: '1' });
});

test('merges: a value that a server set for one of the two visitors stays, even if the other’s value was written later', () => {
  const a = working('a', { updatedAtUs: 1, setByServer: 2, properties: { email: 'a@b.c', phone_number: '+1' } });
  const b = working('b', { updatedAtUs: 2, setByServer: 4, properties: { email: 'd@b.c', phone_number: '+2' } });
  for (const merged of [mergeOf(a, b), mergeOf(b, a)])
    expect(merged.properties.value).toEqual({ email: 'a@b.c', phone_number: '+2' });
  const emailAt = (email: string, atMs: number) => ({
    properties: new VisitorProperties({ email }, undefined, new Map([[timeKey('email'), atMs]])),
  });
  const newer = { ...working('b'), ...emailAt('d@b.c', 2) };
  expect(mergeOf({ ...a, ...emailAt('a@b.c', 1) }, newer).properties.value).toEqual({ email: 'a@b.c' });
});

test('merges: the survivor gets all identifiers of both, and the loser keeps only its device’s sign-in', () => {
  const survivor = working('a', { externalIds: 1, emails: 2, aliases: 3, setByServer: 1, apart: ['1', '2'] });
  const loser = working('b', { externalIds: 4, emails: 5, aliases: 6, setByServer: 2 | 8, apart: ['2', '0'] });
  becomeOne(survivor, loser);
  expect(survivor).toMatchObject({ externalIds: 5, emails: 7, aliases: 10, setByServer: 3, apart: ['0', '1'] });
  expect(loser).toMatchObject({ setByServer: 8, mergedInto: survivor, changed: true });
  expect(loser.properties.value).toEqual({});
  expect([root(loser), root(survivor)]).toEqual([survivor, survivor]);
  expect(identifiersOfVisitor(survivor)).toBe(22);
});

test('merges: a merge keeps the newest hundred undone merges of both visitors', () => {
  const ids = (from: number, count: number): string[] =>
    Array.from({ length: count }, (_, n) => String(from + n).padStart(4, '0'));
  const survivor = working('a', { apart: ids(0, 60) });
  becomeOne(survivor, working('b', { apart: ids(60, 60) }));
  expect(survivor.apart).toEqual(ids(20, 100));
  const alone = working('c', { apart: ids(0, 120) });
  becomeOne(alone, working('d'));
  expect(alone.apart).toEqual(ids(0, 120));
});

test('merges: a record contains a visitor’s properties only if they differ from the stored row', () => {
  const unchanged = working('a', { setByServer: 1, apart: ['m'] });
  expect(stateOf(unchanged)).toEqual({ properties: undefined, setByServer: 1, apart: ['m'] });
  const changed = working('a');
  changed.properties = new VisitorProperties({ city: 'Oslo' });
  expect(stateOf(changed).properties?.value).toEqual({ city: 'Oslo' });
});

test('merges: an alias is recorded as the cause of a merge only if it names two ids', () => {
  const event = { id: 'e', sourceId: 's' };
  expect(causeOf(claim({ isAlias: true, externalIds: ['x', 'y'] }), event)).toEqual({
    kind: 'alias',
    identifier: 'externalId',
    eventId: 'e',
    sourceId: 's',
  });
  for (const own of [{ externalIds: ['x', 'y'] }, { isAlias: true, externalIds: ['x'] }])
    expect(causeOf(claim(own), undefined)).toEqual({ kind: 'signIn', identifier: 'externalId' });
});

test('visitors: a visitor with an external_id property is known, and counts one externalId if its row has no count', () => {
  const known = working('a', { properties: { external_id: 'x' } });
  expect([isKnown(known), known.externalIds]).toEqual([true, 1]);
  expect(working('a', { externalIds: 3, properties: { external_id: 'x' } }).externalIds).toBe(3);
  expect(working('a').externalIds).toBe(0);
  expect(isKnown(working('a', { properties: { external_id: 7 } }))).toBe(false);
});

test.each<[order: string, VisitorClaim, boolean]>([
  ['email externalId userId', claim({ externalIds: ['x'], emails: ['e'] }), true],
  ['email externalId userId', claim({ userId: 'u' }), true],
  ['email externalId userId', claim({ emails: ['e'] }), false],
  ['email externalId userId', claim({ externalIds: ['x', 'y'], isAlias: true }), false],
  ['externalId email userId', claim({ externalIds: ['x'], userId: 'u' }), false],
  ['externalId email userId', claim({ userId: 'u' }), true],
  ['externalId userId email', claim({ userId: 'u' }), false],
])('identity limits: with the order %s an e-mail address decides about %j: %s', (order, own, expected) => {
  const priority = order.split(' ') as (typeof defaultIdentityLimits)['priority'];
  expect(ranksEmailFirst({ ...defaultIdentityLimits, priority }, own)).toBe(expected);
});

test('identity limits: two visitors may together have as many identifiers as a single visitor, and no more', () => {
  const limits = { ...defaultIdentityLimits, emailsMax: 3, userIdsMax: 4 };
  const counted = (emails: number, aliases: number) => ({ emails, aliases });
  expect(exceedTogether(limits, counted(1, 1), counted(2, 1))).toBe(false);
  expect(exceedTogether(limits, counted(2, 0), counted(2, 0))).toBe(true);
  expect(exceedTogether(limits, counted(0, 2), counted(0, 1))).toBe(true);
});

test('identifiers: an event of a person does not name the device, which others may use', () => {
  const all = claim({ userId: 'u', externalIds: ['x'], emails: ['e'], anonymousId: 'n' });
  const named = (own: VisitorClaim): string[] => identifiersOf(own).map(({ kind, value }) => `${kind} ${value}`);
  expect(named(all)).toEqual(['external_id x', 'email e']);
  expect(named(claim({ userId: 'u', emails: ['e'] }))).toEqual(['visitor u', 'email e']);
  expect(named(claim({ anonymousId: 'n' }))).toEqual(['visitor n']);
  expect([deviceOf(all), deviceOf(claim({}))]).toEqual([[{ kind: 'visitor', value: 'u' }], []]);
});

test('identifiers: an event whose claim lost identifiers still names each of them, once', () => {
  const event = { claim: claim({ externalIds: ['x', 'y'] }) };
  const claimed = identifiersOf(event.claim);
  const lost = [
    { kind: 'email', value: 'x' },
    { kind: 'external_id', value: 'z' },
  ] as const;
  const still = stillNaming(event, [...lost, ...claimed]);
  expect(still).toEqual({ ...event, unclaimed: lost });
  expect(namedBy(still)).toEqual([...claimed, ...lost]);
  expect(stillNaming(event, claimed)).toBe(event);
});

test('identifiers: the length limit of an index counts bytes', () => {
  expect(storedIdentity('é'.repeat(512))).toBe('é'.repeat(512));
  expect(storedIdentity('é'.repeat(513))).toMatch(/^sha256:/);
  expect(storedIdentity('x'.repeat(1_025))).toMatch(/^sha256:/);
});

test('identifiers: an unstored visitor of a test event gets the id that the event names, or an id made of its identifiers', () => {
  const idOf = (own: Partial<VisitorClaim>, account = 'a'): string => unstoredVisitorId(account, claim(own));
  expect(idOf({ userId: 'u', anonymousId: 'n', externalIds: ['x'] })).toBe('u');
  expect(idOf({ anonymousId: 'n' })).toBe('n');
  const made = [
    idOf({ externalIds: ['x'] }),
    idOf({ emails: ['x'] }),
    idOf({ externalIds: ['y'] }),
    idOf({ externalIds: ['x'] }, 'b'),
    idOf({}),
  ];
  expect(new Set(made).size).toBe(made.length);
  expect(idOf({ externalIds: ['x'], emails: ['e'] })).toBe(made[0]);
});

test('erasures: an event of the moment of an erasure is erased, a later event only if its identifier is suppressed', () => {
  const known = (isSuppressed: boolean) => ({
    visitor: () => undefined,
    identity: () => undefined,
    erasure: ({ value }: { readonly value: string }) => (value === 'u' ? { atMs: 10, isSuppressed } : undefined),
  });
  const at = (receivedAtMs: number, isSuppressed = false, userId = 'u'): boolean =>
    isErased(
      { accountId: 'a', claim: claim({ userId }), receivedAtMs, given: [], sentWith: 'server' },
      known(isSuppressed),
    );
  expect([at(9), at(10), at(11), at(11, true), at(9, true, 'v')]).toEqual([true, true, false, true, false]);
});
