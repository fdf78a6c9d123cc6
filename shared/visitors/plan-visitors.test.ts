import { expect, test } from 'vitest';
import type { JsonObject } from '../runtime/json.ts';
import { planVisitors } from './plan-visitors.ts';
import type { VisitorPlan } from './plan-visitors.ts';
import type { KnownVisitors, StoredVisitor } from './visitor-rows.ts';
import type { IdentityKind, VisitorClaim } from './visitor-identity.ts';
import { VisitorProperties } from './visitor-properties.ts';
import type { VisitorTouch } from './visitor-store.ts';

const accountId = 'account';

function touch(claim: Partial<VisitorClaim>, ...given: VisitorTouch['given']): VisitorTouch {
  return {
    accountId,
    claim: { userId: undefined, externalIds: [], emails: [], anonymousId: undefined, ...claim },
    given,
  };
}

type Stored = Partial<Omit<StoredVisitor, 'properties'>> & { readonly properties?: JsonObject };

function stored(id: string, { properties = {}, ...more }: Stored = {}): StoredVisitor {
  const row = { accountId, id, version: 3, createdAtUs: 1_000, updatedAtUs: 1_000, mergedInto: undefined };
  return { ...row, erased: false, ...more, properties: new VisitorProperties(properties) };
}

function known(
  visitors: readonly StoredVisitor[] = [],
  identities: readonly [IdentityKind, string, string][] = [],
): KnownVisitors {
  const owners = new Map(identities.map(([kind, value, id]) => [`${kind} ${value}`, id]));
  return {
    visitor: (id) => visitors.find((row) => row.id === id),
    identity: (kind, value) => owners.get(`${kind} ${value}`),
  };
}

function plan(
  touches: readonly VisitorTouch[],
  from: KnownVisitors = known(),
  propertiesBytesMax = 10_000,
): VisitorPlan {
  let made = 0;
  const newVisitorId = (): string => `new-${(made += 1)}`;
  return planVisitors(touches, (id) => (id === accountId ? from : known()), { propertiesBytesMax, newVisitorId });
}

/** Outcomes and writes with their properties as plain objects. */
const valueOf = <Row extends { readonly properties?: VisitorProperties }>(row: Row) => ({
  ...row,
  properties: row.properties?.value,
});

const ids = ({ outcomes }: VisitorPlan): string[] =>
  outcomes.map((outcome) => (outcome.kind === 'resolved' ? outcome.id : outcome.kind));
const propertiesOf = ({ outcomes }: VisitorPlan): JsonObject[] =>
  outcomes.map((outcome) => (outcome.kind === 'resolved' ? outcome.properties.value : {}));
const identitiesOf = ({ newIdentities }: VisitorPlan): string[] =>
  newIdentities.map(({ kind, value, visitorId }) => `${kind} ${value} ${visitorId}`);

test('planVisitors: a userId is the visitor, made when it is new', () => {
  const result = plan([touch({ userId: 'u' }, { city: 'Oslo' }), touch({ userId: 'u' })]);
  expect(ids(result)).toEqual(['u', 'u']);
  expect(result.outcomes.map((outcome) => outcome.kind === 'resolved' && outcome.created)).toEqual([true, false]);
  expect(result.writes.map(valueOf)).toMatchObject([{ id: 'u', stored: undefined, properties: { city: 'Oslo' } }]);
});

test('planVisitors: an externalId is looked up, else a visitor is made for it', () => {
  const from = known([stored('v')], [['external_id', 'x', 'v']]);
  const result = plan(
    [touch({ externalIds: ['x'] }), touch({ externalIds: ['y'] }), touch({ externalIds: ['y'] })],
    from,
  );
  expect(ids(result)).toEqual(['v', 'new-1', 'new-1']);
  expect(identitiesOf(result)).toEqual(['external_id y new-1']);
});

test('planVisitors: an e-mail address is looked up only without the two others', () => {
  const from = known([stored('v')], [['email', 'a@b.c', 'v']]);
  const result = plan(
    [
      touch({ emails: ['a@b.c'] }),
      touch({ externalIds: ['x'], emails: ['a@b.c'] }),
      touch({ userId: 'u', emails: ['a@b.c'] }),
    ],
    from,
  );
  expect(ids(result)).toEqual(['v', 'new-1', 'u']);
  expect(identitiesOf(result)).toEqual(['external_id x new-1']);
});

test('planVisitors: an event that names nobody makes a visitor of its own, once', () => {
  const first = plan([touch({ anonymousId: 'a' })]);
  expect(first.writes).toMatchObject([{ id: 'a', stored: undefined }]);
  const again = plan([touch({ anonymousId: 'a' })], known([stored('a')]));
  expect(ids(again)).toEqual(['a']);
  expect(again.writes).toEqual([]);
});

test('planVisitors: userId with an externalId ties the externalId to the visitor', () => {
  const result = plan([
    touch({ userId: 'u', externalIds: ['x'], emails: ['a@b.c'] }),
    touch({ externalIds: ['x'] }),
    touch({ emails: ['a@b.c'] }),
  ]);
  expect(ids(result)).toEqual(['u', 'u', 'u']);
  expect(identitiesOf(result)).toEqual(['external_id x u', 'email a@b.c u']);
});

test('planVisitors: over one externalId two visitors become the older one, what was written later wins', () => {
  const older = stored('v', { createdAtUs: 1, updatedAtUs: 9, properties: { city: 'Rome', zip: '1' } });
  const younger = stored('u', { createdAtUs: 2, updatedAtUs: 5, properties: { city: 'Oslo', state: 'N' } });
  const from = known([older, younger], [['external_id', 'x', 'v']]);
  const result = plan([touch({ userId: 'u', externalIds: ['x'] }, { gender: 'f' }), touch({ userId: 'u' })], from);
  expect(ids(result)).toEqual(['v', 'v']);
  expect(result.merges).toEqual([{ accountId, from: 'u', into: 'v' }]);
  const written = new Map(result.writes.map((write) => [write.id, valueOf(write)]));
  expect(written.get('v')?.properties).toEqual({ city: 'Rome', zip: '1', state: 'N', gender: 'f' });
  expect(written.get('u')).toMatchObject({ properties: {}, mergedInto: 'v' });
});

test('planVisitors: properties an earlier event of the batch gave are the newer ones in a merge', () => {
  const older = stored('v', { createdAtUs: 1, updatedAtUs: 9, properties: { city: 'Rome' } });
  const from = known([older, stored('u', { createdAtUs: 2 })], [['external_id', 'x', 'v']]);
  const result = plan([touch({ userId: 'u' }, { city: 'Oslo' }), touch({ userId: 'u', externalIds: ['x'] })], from);
  expect(propertiesOf(result)[1]).toEqual({ city: 'Oslo' });
});

test('planVisitors: three visitors that turn out to be one end as one', () => {
  const from = known(
    [stored('a', { createdAtUs: 3 }), stored('b', { createdAtUs: 2 }), stored('c', { createdAtUs: 1 })],
    [
      ['external_id', 'x', 'b'],
      ['external_id', 'y', 'c'],
    ],
  );
  const result = plan([touch({ userId: 'a', externalIds: ['x'] }), touch({ userId: 'a', externalIds: ['y'] })], from);
  expect(ids(result)).toEqual(['b', 'c']);
  expect(result.merges).toEqual([
    { accountId, from: 'a', into: 'c' },
    { accountId, from: 'b', into: 'c' },
  ]);
});

test('planVisitors: an alias leads to the visitor it became', () => {
  const from = known([stored('u', { mergedInto: 'v' }), stored('v', { properties: { city: 'Rome' } })]);
  const result = plan([touch({ userId: 'u' })], from);
  expect(ids(result)).toEqual(['v']);
  expect(propertiesOf(result)).toEqual([{ city: 'Rome' }]);
  expect(result.writes).toEqual([]);
});

test('planVisitors: an erased visitor stays erased, whatever leads to it', () => {
  const from = known(
    [stored('v', { erased: true }), stored('old', { mergedInto: 'v' })],
    [
      ['external_id', 'x', 'v'],
      ['email', 'a@b.c', 'v'],
    ],
  );
  const result = plan(
    [
      touch({ userId: 'v' }, { city: 'Oslo' }),
      touch({ externalIds: ['x'] }),
      touch({ emails: ['a@b.c'] }),
      touch({ userId: 'old' }),
    ],
    from,
  );
  expect(ids(result)).toEqual(['erased', 'erased', 'erased', 'erased']);
  expect(result.writes).toEqual([]);
});

test('planVisitors: the externalId of an erased visitor is not tied to another', () => {
  const from = known([stored('v', { erased: true })], [['external_id', 'x', 'v']]);
  const result = plan([touch({ userId: 'u', externalIds: ['x'] })], from);
  expect(ids(result)).toEqual(['u']);
  expect(result.newIdentities).toEqual([]);
  expect(result.merges).toEqual([]);
});

test('planVisitors: what changes nothing writes nothing', () => {
  const from = known([stored('u', { properties: { city: 'Oslo' } })]);
  expect(plan([touch({ userId: 'u' }, { city: 'Oslo' }, { zip: '' })], from).writes).toEqual([]);
});

test('planVisitors: clearing e-mail takes the address from the visitor, so that another may have it', () => {
  const from = known([stored('u', { properties: { email: 'a@b.c' } })], [['email', 'a@b.c', 'u']]);
  const result = plan([touch({ userId: 'u' }, { email: null }), touch({ emails: ['a@b.c'] })], from);
  expect(ids(result)).toEqual(['u', 'new-1']);
  expect(result.cleared).toEqual([{ accountId, visitorId: 'u', kind: 'email' }]);
  expect(identitiesOf(result)).toEqual(['email a@b.c new-1']);
});

test('planVisitors: properties beyond the limit are left out, clearing still works', () => {
  const from = known([stored('u', { properties: { a: 'x'.repeat(90) } })]);
  const result = plan([touch({ userId: 'u' }, { b: 'y'.repeat(50) }), touch({ userId: 'u' }, { a: null })], from, 100);
  expect(result.oversized).toBe(1);
  expect(propertiesOf(result).map((properties) => Object.keys(properties))).toEqual([['a'], []]);
});

test('planVisitors: visitors that would be too large as one stay two, and keep what they had', () => {
  const from = known(
    [stored('u', { properties: { a: 'x'.repeat(60) } }), stored('w', { properties: { b: 'y'.repeat(60) } })],
    [['external_id', 'x', 'w']],
  );
  const result = plan([touch({ userId: 'u', externalIds: ['x'] }, { c: 1 })], from, 100);
  expect(result.oversized).toBe(1);
  expect(ids(result)).toEqual(['u']);
  expect(result.merges).toEqual([]);
  expect(propertiesOf(result)).toEqual([{ a: 'x'.repeat(60), c: 1 }]);
});

test('planVisitors: the limit is one of bytes, as the text travels', () => {
  const result = plan([touch({ userId: 'u' }, { a: '😀'.repeat(25) })], known(), 100);
  expect(result.oversized).toBe(1);
});

test('planVisitors: an event whose visitor cannot be read is refused, and the others go on', () => {
  const from = known([stored('u', { isUnreadable: true })]);
  const result = plan([touch({ userId: 'u' }, { a: 1 }), touch({ userId: 'w' }, { a: 1 })], from);
  expect(ids(result)).toEqual(['refused', 'w']);
  expect(result.writes.map(({ id }) => id)).toEqual(['w']);
});

test('planVisitors: accounts do not meet', () => {
  const other = { ...touch({ userId: 'u' }, { city: 'Rome' }), accountId: 'other' };
  const result = plan([touch({ userId: 'u' }, { city: 'Oslo' }), other]);
  expect(result.writes.map(({ accountId, properties }) => [accountId, properties.value['city']])).toEqual([
    ['account', 'Oslo'],
    ['other', 'Rome'],
  ]);
});
