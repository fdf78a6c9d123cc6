// Large: cases of one function.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sumLeftOut } from '../testing/visitors.ts';
import { defaultIdentityLimits } from './identity-limits.ts';
import { planVisitors } from './plan-visitors.ts';
import {
  accountId,
  alias,
  identitiesOf,
  ids,
  known,
  person,
  plan,
  propertiesOf,
  sentWith,
  stored,
  touch,
  valueOf,
} from './testing/planned-visitors.ts';
import type { Erasure } from './visitor-rows.ts';
import type { KeyTrust, VisitorTouch } from './visitor-store.ts';

test('planVisitors: a userId is the id of its visitor, who is created if the id is new', () => {
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

test('planVisitors: an e-mail address is looked up only in an event with neither userId nor externalId', () => {
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

test('planVisitors: an event without identifiers makes a visitor of its own, once', () => {
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

test('planVisitors: one externalId merges two visitors into the older one, and properties written later win', () => {
  const older = stored('v', { createdAtUs: 1, updatedAtUs: 9, properties: { city: 'Rome', zip: '1' } });
  const younger = stored('u', { createdAtUs: 2, updatedAtUs: 5, properties: { city: 'Oslo', state: 'N' } });
  const from = known([older, younger], [['external_id', 'x', 'v']]);
  const result = plan([touch({ userId: 'u', externalIds: ['x'] }, { gender: 'f' }), touch({ userId: 'u' })], from);
  expect(ids(result)).toEqual(['v', 'v']);
  expect(result.merges).toMatchObject([{ accountId, from: 'u', into: 'v' }]);
  const written = new Map(result.writes.map((write) => [write.id, valueOf(write)]));
  expect(written.get('v')?.properties).toEqual({ city: 'Rome', zip: '1', state: 'N', gender: 'f' });
  expect(written.get('u')).toMatchObject({ properties: {}, mergedInto: 'v' });
});

test('planVisitors: in a merge, properties from an earlier event of the batch count as newer than stored properties', () => {
  const older = stored('v', { createdAtUs: 1, updatedAtUs: 9, properties: { city: 'Rome' } });
  const from = known([older, stored('u', { createdAtUs: 2 })], [['external_id', 'x', 'v']]);
  const result = plan([touch({ userId: 'u' }, { city: 'Oslo' }), touch({ userId: 'u', externalIds: ['x'] })], from);
  expect(propertiesOf(result)[1]).toEqual({ city: 'Oslo' });
});

test('planVisitors: three visitors that the events of a batch link end up as one visitor', () => {
  const from = known(
    [stored('a', { createdAtUs: 3 }), stored('b', { createdAtUs: 2 }), stored('c', { createdAtUs: 1 })],
    [
      ['external_id', 'x', 'b'],
      ['external_id', 'y', 'c'],
    ],
  );
  const result = plan([touch({ userId: 'a', externalIds: ['x'] }), touch({ userId: 'a', externalIds: ['y'] })], from);
  expect(ids(result)).toEqual(['b', 'c']);
  expect(result.merges).toMatchObject([
    { accountId, from: 'a', into: 'b' },
    { accountId, from: 'b', into: 'c' },
  ]);
});

test('planVisitors: the id of a merged visitor leads to the visitor it was merged into', () => {
  const from = known([stored('u', { mergedInto: 'v' }), stored('v', { properties: { city: 'Rome' } })]);
  const result = plan([touch({ userId: 'u' })], from);
  expect(ids(result)).toEqual(['v']);
  expect(propertiesOf(result)).toEqual([{ city: 'Rome' }]);
  expect(result.writes).toEqual([]);
});

test('planVisitors: an event names the merged ids of its identifiers, in the batch of the merge and later', () => {
  const mergedIdsOf = ({ outcomes }: ReturnType<typeof plan>) =>
    outcomes.map((outcome) => (outcome.kind === 'resolved' ? (outcome.mergedIds ?? []) : outcome.kind));
  const device = stored('device', { createdAtUs: 1 });
  const events = [
    touch({ userId: 'device', externalIds: ['x'] }),
    touch({ externalIds: ['x'] }),
    touch({ userId: 'device' }),
  ];
  expect(mergedIdsOf(plan(events, known([device, stored('person')], [['external_id', 'x', 'person']])))).toEqual([
    ['person'],
    ['person'],
    [],
  ]);
  const later = known(
    [stored('device', { createdAtUs: 1, aliases: 1 }), stored('person', { mergedInto: 'device' })],
    [['external_id', 'x', 'person']],
  );
  expect(mergedIdsOf(plan(events, later))).toEqual([['person'], ['person'], []]);
  const inOne = [touch({ externalIds: ['x'] }), ...events];
  expect(mergedIdsOf(plan(inOne, known([device])))).toEqual([[], ['new-1'], ['new-1'], []]);
});

test('planVisitors: a device that another person signed in on names no merged id', () => {
  const other = stored('other', { properties: { external_id: 'o' }, signedInAs: 'person' });
  const person = stored('person', { aliases: 1, properties: { external_id: 'x' } });
  const result = plan([touch({ userId: 'other' })], known([other, person]));
  expect(result.outcomes).toMatchObject([{ id: 'person' }]);
  expect(result.outcomes[0]).not.toHaveProperty('mergedIds');
});

test('planVisitors: an alias that joins a device by its new id names the device among the merged ids', () => {
  const from = known([stored('x', { createdAtUs: 1, externalIds: 1 }), stored('d')], [['external_id', 'x', 'x']]);
  const { outcomes } = plan([touch({ userId: 'x', externalIds: ['x', 'd'], isAlias: true })], from);
  expect(outcomes).toMatchObject([{ kind: 'resolved', id: 'x', mergedIds: expect.arrayContaining(['d']) }]);
});

test('planVisitors: what an unknown person gives leaves the known person of the same device as it is', () => {
  const owner = { properties: { external_id: 'owner' }, externalIds: 1 };
  const from = known([stored('device', owner)], [['external_id', 'owner', 'device']]);
  const given = { consent: { ads: false } };
  const forKnown = (externalId: string): VisitorTouch => ({
    ...touch({ userId: 'device', externalIds: [externalId] }, given),
    isForKnown: true,
  });
  expect(plan([forKnown('guest')], from).writes).toEqual([]);
  expect(propertiesOf(plan([forKnown('owner')], from))).toEqual([{ external_id: 'owner', ...given }]);
  const anonymous = known([stored('device')], []);
  expect(propertiesOf(plan([forKnown('guest')], anonymous))).toEqual([given]);
});

test('planVisitors: what is for a known visitor changes that visitor, but ties no identifiers and creates no visitor', () => {
  const from = known([stored('u'), stored('v')], [['external_id', 'x', 'v']]);
  const forKnown = (claim: Partial<VisitorTouch['claim']>): VisitorTouch => ({
    ...touch(claim, { consent: { ads: false } }),
    isForKnown: true,
  });
  const result = plan(
    [
      forKnown({ userId: 'u', externalIds: ['x'], emails: ['a@b.c'] }),
      forKnown({ userId: 'new', externalIds: ['y'] }),
      forKnown({ emails: ['new@b.c'] }),
      touch({ userId: 'u' }),
    ],
    from,
  );
  expect(propertiesOf(result)).toEqual([{ consent: { ads: false } }, {}, {}, {}]);
  expect(result.writes.map(({ id }) => id)).toEqual(['v']);
  expect([result.newIdentities, result.merges]).toEqual([[], []]);
});

const erasedIdentifiers = { 'visitor v': {}, 'visitor old': {}, 'external_id x': {}, 'email a@b.c': {} };
const naming: readonly VisitorTouch[] = [
  touch({ userId: 'v' }, { city: 'Oslo' }),
  touch({ userId: 'old' }),
  touch({ externalIds: ['x'] }),
  touch({ emails: ['a@b.c'] }),
  touch({ anonymousId: 'v' }),
  touch({ userId: 'new', externalIds: ['x'] }),
  touch({ userId: 'new', emails: ['a@b.c'] }),
  { ...touch({ userId: 'new' }), unclaimed: [{ kind: 'email', value: 'a@b.c' }] },
  { ...touch({ userId: 'v' }), unclaimed: [{ kind: 'email', value: 'new@b.c' }] },
];
const erasedAt = (atMs: number, isSuppressed = false): Record<string, Erasure> =>
  Object.fromEntries(Object.keys(erasedIdentifiers).map((key) => [key, { atMs, isSuppressed }]));

test('planVisitors: an event with an erased identifier, received before or at the erasure, is dropped and changes nothing', () => {
  // By then a new visitor may have the identifiers.
  for (const from of [
    known([], [], erasedAt(1_000)),
    known([stored('v')], [['external_id', 'x', 'v']], erasedAt(1_000)),
  ]) {
    const result = plan(naming, from);
    expect(ids(result)).toEqual(naming.map(() => 'erased'));
    expect([result.writes, result.newIdentities, result.merges]).toEqual([[], [], []]);
  }
});

test('planVisitors: an event received after the erasure begins a new visitor, unless its identifier is suppressed', () => {
  const [first, , external] = naming;
  if (first === undefined || external === undefined) return expect.unreachable();
  const result = plan([first, external], known([], [], erasedAt(999)));
  expect(ids(result)).toEqual(['v', 'new-1']);
  expect(result.outcomes.map((outcome) => outcome.kind === 'resolved' && outcome.created)).toEqual([true, true]);
  expect(ids(plan(naming, known([], [], erasedAt(999, true))))).toEqual(naming.map(() => 'erased'));
});

test('planVisitors: a person’s event on a suppressed device goes to the person, and no visitor has the device’s id', () => {
  const suppressed = { 'visitor d': { atMs: 2_000, isSuppressed: true } };
  const from = known([stored('v')], [['external_id', 'x', 'v']], suppressed);
  const result = plan([touch({ userId: 'd', externalIds: ['x'] }, { city: 'Oslo' })], from);
  expect(ids(result)).toEqual(['v']);
  expect(result.writes.map(valueOf)).toMatchObject([{ id: 'v', properties: { city: 'Oslo' } }]);
});

test('planVisitors: an event that changes nothing writes nothing', () => {
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
  expect(sumLeftOut(result.outcomes).oversized).toBe(1);
  expect(propertiesOf(result).map((properties) => Object.keys(properties))).toEqual([['a'], []]);
});

test('planVisitors: of properties beyond the limit only the refusals of consent are kept, if they fit', () => {
  const before = { a: 'x'.repeat(20), consent: { ads: true, stats: true } };
  const afterwards = (given: VisitorTouch['given'][number], bytesMax = 100) => {
    const result = plan([touch({ userId: 'u' }, given)], known([stored('u', { properties: before })]), bytesMax);
    return [sumLeftOut(result.outcomes).oversized, ...propertiesOf(result)];
  };
  const refused = { ...before, consent: { ads: false, stats: true } };
  expect(afterwards({ city: 'y'.repeat(80), consent: { ads: false, more: true } })).toEqual([1, refused]);
  expect(afterwards({ consent: { note: 'y'.repeat(80), ads: 'Denied' } })).toEqual([
    1,
    { ...before, consent: { ads: 'Denied', stats: true } },
  ]);
  expect(afterwards({ city: 'y'.repeat(80), consent: { ads: true } })).toEqual([1, before]);
  const full = JSON.stringify(before).length;
  expect(afterwards({ city: 'y', consent: { ads: false } }, full)).toEqual([1, before]);
});

test('planVisitors: two visitors that together would be too large are not merged and keep their properties', () => {
  const from = known(
    [stored('u', { properties: { a: 'x'.repeat(60) } }), stored('w', { properties: { b: 'y'.repeat(60) } })],
    [['external_id', 'x', 'w']],
  );
  const result = plan([touch({ userId: 'u', externalIds: ['x'] }, { c: 1 })], from, 100);
  expect(sumLeftOut(result.outcomes).oversized).toBe(1);
  // The event and later events of the device belong to the person.
  expect(ids(result)).toEqual(['w']);
  expect(result.merges).toEqual([]);
  expect(propertiesOf(result)).toEqual([{ b: 'y'.repeat(60), c: 1 }]);
  expect(result.writes).toMatchObject([{ id: 'u', signedInAs: 'w' }, { id: 'w' }]);
});

test('planVisitors: the size limit counts bytes of UTF-8', () => {
  const result = plan([touch({ userId: 'u' }, { a: '😀'.repeat(25) })], known(), 100);
  expect(sumLeftOut(result.outcomes).oversized).toBe(1);
});

test('planVisitors: an event whose visitor cannot be read is refused, and other events are processed', () => {
  const from = known([stored('u', { isUnreadable: true })]);
  const result = plan([touch({ userId: 'u' }, { a: 1 }), touch({ userId: 'w' }, { a: 1 })], from);
  expect(ids(result)).toEqual(['refused', 'w']);
  expect(result.writes.map(({ id }) => id)).toEqual(['w']);
});

test('planVisitors: visitors of different accounts stay separate', () => {
  const other = { ...touch({ userId: 'u' }, { city: 'Rome' }), accountId: 'other' };
  const result = plan([touch({ userId: 'u' }, { city: 'Oslo' }), other]);
  expect(result.writes.map(({ accountId, properties }) => [accountId, properties.value['city']])).toEqual([
    ['account', 'Oslo'],
    ['other', 'Rome'],
  ]);
});

const alice = { first_name: 'Alice', email: 'alice@example.com' };
const bob = { first_name: 'Bob', email: 'bob@example.com' };

test.each<KeyTrust>(['server', 'public'])(
  'planVisitors: two people on one device stay separate, and the device’s events go to the person signed in last (%s key)',
  (trust) => {
    const result = plan(
      [
        touch({ userId: 'd' }, { city: 'Oslo' }),
        person('alice', { userId: 'd', emails: ['alice@example.com'] }, alice),
        person('bob', { userId: 'd', emails: ['bob@example.com'] }, bob),
        touch({ userId: 'd' }),
        person('alice'),
        person('alice', { userId: 'd' }),
        touch({ userId: 'd' }),
        person('bob', { userId: 'other' }),
        touch({ userId: 'other' }),
      ].map((event) => sentWith(trust, event)),
    );
    expect(ids(result)).toEqual(['d', 'd', 'new-1', 'new-1', 'd', 'd', 'd', ...ids(result).slice(7)]);
    expect(new Set(ids(result).slice(7)).size).toBe(1);
    const [, , , ofBob, ofAlice] = propertiesOf(result);
    expect(ofAlice).toEqual({ external_id: 'alice', city: 'Oslo', ...alice });
    expect(ofBob).toEqual({ external_id: 'bob', ...bob });
    expect(sumLeftOut(result.outcomes).keptApart).toBe(2);
  },
);

test('planVisitors: a device that was merged into one person is signed in as the next, and the two people are not merged', () => {
  const from = known(
    [
      stored('v', { properties: { external_id: 'alice', ...alice } }),
      stored('d', { mergedInto: 'v' }),
      stored('w', { properties: { external_id: 'bob' } }),
    ],
    [
      ['external_id', 'alice', 'v'],
      ['external_id', 'bob', 'w'],
    ],
  );
  const result = plan([person('bob', { userId: 'd' }), touch({ userId: 'd' }), person('alice')], from);
  expect(ids(result)).toEqual(['w', 'w', 'v']);
  expect(result.merges).toEqual([]);
  const tied = result.writes.find(({ id }) => id === 'd');
  expect(tied).toMatchObject({ mergedInto: 'v', signedInAs: 'w' });
});

test('planVisitors: the row of a device names the person signed in there, who is followed through merges', () => {
  const from = known([
    stored('d', { signedInAs: 'w', properties: { external_id: 'alice' } }),
    stored('w', { mergedInto: 'z' }),
    stored('z', { properties: bob }),
  ]);
  const result = plan([touch({ userId: 'd' })], from);
  expect(ids(result)).toEqual(['z']);
  expect(result.writes).toEqual([]);
});

test('planVisitors: an e-mail address that two people use identifies the person who had it first', () => {
  const email = 'office@example.com';
  const result = plan([
    person('alice', { emails: [email] }, { email }),
    person('bob', { emails: [email] }, { email }),
    touch({ emails: [email] }),
  ]);
  expect(ids(result)).toEqual(['new-1', 'new-2', 'new-1']);
  expect(propertiesOf(result).map((properties) => properties['email'])).toEqual([email, email, email]);
});

test('planVisitors: an alias merges two known people, and both ids lead to one visitor', () => {
  const from = known(
    [
      stored('v', { createdAtUs: 1, properties: { external_id: 'old', ...alice } }),
      stored('w', { createdAtUs: 2, properties: { external_id: 'new', city: 'Rome' } }),
    ],
    [
      ['external_id', 'old', 'v'],
      ['external_id', 'new', 'w'],
    ],
  );
  const result = plan([alias('old', 'new'), person('old'), person('new'), touch({ userId: 'old' })], from);
  expect(ids(result)).toEqual(['v', 'v', 'v', 'v']);
  expect(result.merges).toContainEqual(expect.objectContaining({ accountId, from: 'w', into: 'v' }));
  expect(propertiesOf(result)[0]).toEqual({ external_id: 'new', city: 'Rome', ...alice });
  expect(sumLeftOut(result.outcomes).keptApart).toBe(0);
});

test.each<KeyTrust>(['server', 'public'])(
  'planVisitors: an alias of a device, of an unknown id and of an unknown person works with a %s key',
  (trust) => {
    const results = [
      plan(
        [touch({ userId: 'a' }, { city: 'Oslo' }), alias('a', 'p'), touch({ userId: 'a' }), person('p')].map((event) =>
          sentWith(trust, event),
        ),
      ),
      plan([alias('a', 'p'), touch({ userId: 'a' }), person('p'), person('a')].map((event) => sentWith(trust, event))),
      plan([person('p'), alias('a', 'p'), touch({ userId: 'a' }), person('a')].map((event) => sentWith(trust, event))),
    ];
    for (const result of results) {
      const after = ids(result).slice(1);
      expect(new Set(after).size).toBe(1);
      expect(sumLeftOut(result.outcomes).keptApart).toBe(0);
    }
  },
);

test('planVisitors: an alias with a public key does not merge two known people', () => {
  const people = [person('old', {}, alice), person('new', {}, bob)];
  const result = plan([...people, sentWith('public', alias('old', 'new')), person('old'), person('new')]);
  expect(ids(result)).toEqual(['new-1', 'new-2', 'new-2', 'new-1', 'new-2']);
  expect(result.merges).toEqual([]);
  expect(sumLeftOut(result.outcomes).keptApart).toBe(1);
  // A new id for a person whose externalId a server set is another person, too.
  const unknown = plan([person('old'), sentWith('public', alias('old', 'third')), person('third'), person('old')]);
  expect(ids(unknown)).toEqual(['new-1', 'new-2', 'new-2', 'new-1']);
  const unused = plan([person('mallory'), sentWith('public', alias('unused', 'mallory')), person('unused')]);
  expect(ids(unused)).toEqual(['new-1', 'new-1', 'new-2']);
  const ofPages = [person('old'), alias('old', 'third'), person('third'), person('old')];
  expect(new Set(ids(plan(ofPages.map((event) => sentWith('public', event))))).size).toBe(1);
});

test('planVisitors: a public key does not overwrite or clear what a server has set, and adds the rest', () => {
  const contact = { email: 'a@b.c', phone_number: '+1' };
  const from = known();
  const result = plan(
    [
      person('cust', { emails: ['a@b.c'] }, contact),
      sentWith(
        'public',
        person('cust', { emails: ['evil@x.y'] }, { email: 'evil@x.y', phone_number: null, city: 'Rome' }),
      ),
      sentWith('public', person('cust', {}, { email: ' A@b.c', plan: 'pro' })),
      person('cust', {}, { email: 'new@b.c' }),
      touch({ emails: ['evil@x.y'] }),
    ],
    from,
  );
  const [, attacked, respelled, changed] = propertiesOf(result);
  expect(attacked).toEqual({ external_id: 'cust', ...contact, city: 'Rome' });
  expect(respelled).toMatchObject({ plan: 'pro' });
  expect(changed).toMatchObject({ email: 'new@b.c' });
  // The address that was not overwritten identifies no visitor either.
  expect(ids(result)).toEqual(['new-1', 'new-1', 'new-1', 'new-1', 'new-2']);
  expect(sumLeftOut(result.outcomes).notOverwritten).toBe(2);
});

test('planVisitors: a public key may change a value of a public key, until a server sets the same value', () => {
  const from = known(
    [stored('v', { properties: { external_id: 'cust', email: 'a@b.c' } })],
    [['external_id', 'cust', 'v']],
  );
  const change = sentWith('public', person('cust', {}, { email: 'x@b.c' }));
  const same = person('cust', {}, { email: 'x@b.c' });
  const result = plan([change, same, sentWith('public', person('cust', {}, { email: 'y@b.c' }))], from);
  expect(propertiesOf(result).map(({ email }) => email)).toEqual(['x@b.c', 'x@b.c', 'x@b.c']);
});

test('planVisitors: merging a public key’s visitor into a person does not replace contact data that a server set', () => {
  const result = plan([
    person('cust', {}, { email: 'a@b.c' }),
    sentWith('public', touch({ userId: 'd', emails: ['evil@x.y'] }, { email: 'evil@x.y', phone_number: '+666' })),
    sentWith('public', person('cust', { userId: 'd' })),
  ]);
  expect(propertiesOf(result)[2]).toEqual({ external_id: 'cust', email: 'a@b.c', phone_number: '+666' });
});

test('planVisitors: a public key does not merge two visitors for whom a server set different contact data', () => {
  const result = plan([
    touch({ userId: 'user-42' }, { email: 'a@b.c' }),
    person('mallory', {}, { email: 'm@x.y' }),
    sentWith('public', person('mallory', { userId: 'user-42' })),
    touch({ userId: 'user-42' }),
  ]);
  expect(ids(result)).toEqual(['user-42', 'new-1', 'new-1', 'user-42']);
  expect(propertiesOf(result)[3]).toEqual({ email: 'a@b.c' });
});

test('planVisitors: a server’s events of a userId that it has identified do not go to a person signed in there with a public key', () => {
  const events = [
    person('cust-42', { userId: 'user-42' }, { email: 'a@b.c' }),
    sentWith('public', person('mallory', { userId: 'user-42' }, { email: 'm@x.y' })),
    touch({ userId: 'user-42' }),
    sentWith('public', touch({ userId: 'user-42' })),
  ];
  expect(ids(plan(events))).toEqual(['user-42', 'new-1', 'user-42', 'new-1']);
  // A person signed in by a server stays signed in for both kinds of keys.
  const next = [person('carol', { userId: 'user-42' }), sentWith('public', person('mallory', { userId: 'user-42' }))];
  const later = [touch({ userId: 'user-42' }), sentWith('public', touch({ userId: 'user-42' }))];
  const result = plan([...events, ...next, ...later]);
  const [ofCarol, ofMallory, ...after] = ids(result).slice(4);
  expect(ofMallory).toBe('new-1');
  expect(after).toEqual([ofCarol, ofCarol]);
  expect(sumLeftOut(result.outcomes).notOverwritten).toBe(1);
});

test('planVisitors: an event of a test key sees its visitor, and changes nothing', () => {
  const from = known([stored('v', { properties: { external_id: 'x', city: 'Rome' } })], [['external_id', 'x', 'v']]);
  const events = [
    person('x', { userId: 'd', emails: ['a@b.c'] }, { city: 'Oslo', email: 'a@b.c' }),
    person('x', {}, { first_name: 'Ada', city: null }),
    person('unknown', {}, { city: 'Bern' }),
    person('unknown'),
    touch({ userId: 'u' }, { city: 'Oslo' }),
    touch({ anonymousId: 'anonymous' }),
    touch({ emails: ['b@b.c'] }),
    alias('x', 'unknown'),
  ];
  const result = plan(
    events.map((event) => sentWith('test', event)),
    from,
  );
  expect(propertiesOf(result).slice(0, 3)).toEqual([
    { external_id: 'x', city: 'Oslo', email: 'a@b.c' },
    { external_id: 'x', first_name: 'Ada' },
    { external_id: 'unknown', city: 'Bern' },
  ]);
  const [one, two, unknown, again, ...named] = ids(result);
  expect([one, two, ...named.slice(0, 2)]).toEqual(['v', 'v', 'u', 'anonymous']);
  expect(again).toBe(unknown);
  expect(result).toMatchObject({ writes: [], newIdentities: [], merges: [], cleared: [] });
  // A redelivery has the same result.
  expect(
    ids(
      plan(
        events.map((event) => sentWith('test', event)),
        from,
      ),
    ),
  ).toEqual(ids(result));
});

const person3 = fc.constantFrom('a', 'b', 'c');
const anyEvent = fc
  .record({
    userId: fc.option(fc.constantFrom('d1', 'd2', 'd3'), { nil: undefined }),
    externalId: fc.option(person3, { nil: undefined }),
    email: fc.option(fc.constantFrom('1@x.y', '2@x.y'), { nil: undefined }),
    trust: fc.constantFrom<KeyTrust>('server', 'public', 'test'),
  })
  .filter(({ userId, externalId, email }) => (userId ?? externalId ?? email) !== undefined);

test('planVisitors: only an alias merges two known people, and each externalId keeps its own person', () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 12 }), (events) => {
      const touches = events.map(({ userId, externalId, email, trust }) => {
        const emails = email === undefined ? [] : [email];
        const claim = { userId, emails, externalIds: externalId === undefined ? [] : [externalId] };
        return sentWith(
          trust,
          touch(claim, { ...(externalId && { external_id: externalId }), ...(email && { email }) }),
        );
      });
      const looks = ['a', 'b', 'c'].map((id) => sentWith('test', person(id)));
      const result = plan([...touches, ...looks]);
      const last = ids(result).slice(touches.length);
      expect(new Set(last).size).toBe(3);
      // The visitor of an externalId has it as a property from then on.
      for (const [index, { externalId, trust }] of events.entries()) {
        if (externalId === undefined || trust === 'test') continue;
        expect(propertiesOf(result)[index]?.['external_id']).toBe(externalId);
      }
      for (const [index, id] of ['a', 'b', 'c'].entries()) {
        expect(propertiesOf(result)[touches.length + index]?.['external_id']).toBe(id);
      }
      const owners = result.newIdentities
        .filter(({ kind }) => kind === 'external_id')
        .map(({ visitorId }) => visitorId);
      expect(new Set(owners).size).toBe(owners.length);
    }),
    { numRuns: 1_000 },
  );
});

test('planVisitors: events with only a device’s id go to the person who last signed in there', () => {
  fc.assert(
    fc.property(
      fc.array(anyEvent, { maxLength: 12 }),
      fc.constantFrom<KeyTrust>('server', 'public'),
      (events, trust) => {
        const touches = events.flatMap(({ userId = 'd1', externalId }) => {
          const event = externalId === undefined ? touch({ userId }) : person(externalId, { userId });
          return [event, touch({ userId })].map((one) => sentWith(trust, one));
        });
        const result = plan(touches);
        const signedIn = new Map<string, string>();
        for (const [index, { userId = 'd1', externalId }] of events.entries()) {
          if (externalId !== undefined) signedIn.set(userId, externalId);
          const expected = signedIn.get(userId);
          if (expected === undefined) continue;
          expect(propertiesOf(result)[index * 2 + 1]?.['external_id']).toBe(expected);
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

test('planVisitors: a visitor at its limit of identifiers takes no further identifier, and its events are still accepted', () => {
  const full = stored('v', { externalIds: 1, emails: 1, aliases: 2, properties: { external_id: 'x' } });
  const from = known(
    [full, stored('anonymous'), stored('other', { aliases: 3, properties: { external_id: 'y' }, externalIds: 1 })],
    [
      ['external_id', 'x', 'v'],
      ['external_id', 'y', 'other'],
    ],
  );
  const events = [
    person('x', { emails: ['b@example.com'] }, { email: 'b@example.com' }),
    person('x', { userId: 'anonymous' }),
    person('x', { userId: 'new-device' }),
    alias('x', 'y'),
    touch({ userId: 'new-device' }, { city: 'Oslo' }),
  ];
  const newVisitorId = (): string => 'made';
  const bounded = (identifiersMax: number) =>
    planVisitors(events, () => from, { propertiesBytesMax: 10_000, newVisitorId, identifiersMax });
  const result = bounded(4);
  expect(sumLeftOut(result.outcomes).full).toBe(4);
  expect(ids(result)).toEqual(['v', 'v', 'v', 'other', 'v']);
  expect(result.merges).toEqual([]);
  expect(result.newIdentities).toEqual([]);
  // The devices lead to the person nevertheless.
  const signedIn = result.writes.flatMap(({ id, signedInAs }) => (signedInAs === undefined ? [] : [[id, signedInAs]]));
  expect(signedIn).toEqual([
    ['anonymous', 'v'],
    ['new-device', 'v'],
  ]);
  const free = bounded(20);
  expect(sumLeftOut(free.outcomes).full).toBe(0);
  const survivor = free.writes.find(({ mergedInto }) => mergedInto === undefined);
  expect(survivor).toMatchObject({ externalIds: 2, emails: 1 + 1, aliases: 2 + 1 + 1 + 1 + 3 + 1 });
});

test('planVisitors: if the e-mail address decides who the visitor is, a signed externalId gives no rights over that visitor', () => {
  const from = known(
    [
      stored('victim', { properties: { email: 'v@b.c', phone_number: '+1' }, setByServer: 6, emails: 1 }),
      stored('own', { properties: { external_id: 'x' }, externalIds: 1 }),
    ],
    [
      ['email', 'v@b.c', 'victim'],
      ['external_id', 'x', 'own'],
    ],
  );
  const limits = { ...defaultIdentityLimits, priority: ['email', 'externalId', 'userId'] as const };
  const signed = sentWith('signed', person('x', { emails: ['v@b.c'] }, { phone_number: '+2', city: 'Oslo' }));
  const result = plan([{ ...signed, limits: { ...limits, priority: [...limits.priority] } }], from);
  expect(ids(result)).toEqual(['victim']);
  expect(propertiesOf(result)).toEqual([{ email: 'v@b.c', phone_number: '+1', city: 'Oslo' }]);
  expect(sumLeftOut(result.outcomes)).toMatchObject({ keptApart: 1, notOverwritten: 1 });
});
