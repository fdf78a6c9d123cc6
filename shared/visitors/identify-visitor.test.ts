import { expect, test } from 'vitest';
import { sumLeftOut } from '../testing/visitors.ts';
import { defaultIdentityLimits } from './identity-limits.ts';
import type { IdentityLimits } from './identity-limits.ts';
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
} from './testing/planned-visitors.ts';
import type { KeyTrust, VisitorTouch } from './visitor-store.ts';

const limited = (event: VisitorTouch, own: Partial<IdentityLimits>): VisitorTouch => ({
  ...event,
  limits: { ...defaultIdentityLimits, ...own },
});
const emailFirst = (event: VisitorTouch, own: Partial<IdentityLimits> = {}): VisitorTouch =>
  limited(event, { priority: ['email', 'externalId', 'userId'], ...own });
const knownPerson = (id: string, externalId: string, own: Parameters<typeof stored>[1] = {}) =>
  stored(id, { externalIds: 1, ...own, properties: { external_id: externalId, ...own.properties } });

test('externalIds: in an account that allows two, a device’s second externalId is added to its person, and a third is not', () => {
  const events = ['x', 'y', 'z'].map((id) => limited(touch({ userId: 'd', externalIds: [id] }), { externalIdsMax: 2 }));
  const result = plan(events);
  expect(ids(result)).toEqual(['d', 'd', 'new-1']);
  expect(propertiesOf(result)[1]).toEqual({ external_id: 'x' });
  expect(sumLeftOut(result.outcomes).keptApart).toBe(1);
});

test('externalIds: a public key cannot add an externalId to a person that a server identified, but can to a person of its own', () => {
  const second = sentWith('public', limited(person('y', { userId: 'd' }), { externalIdsMax: 2 }));
  const first = person('x', { userId: 'd' });
  expect(ids(plan([first, second]))).toEqual(['d', 'new-1']);
  expect(ids(plan([sentWith('public', first), second]))).toEqual(['d', 'd']);
  expect(ids(plan([first, sentWith('server', second)]))).toEqual(['d', 'd']);
});

test('externalIds: the second externalId of an event is tied if it has no owner and the account allows it', () => {
  const both = touch({ externalIds: ['x', 'y'] });
  const [allowed, refused] = [2, 1].map((externalIdsMax) => plan([limited(both, { externalIdsMax })]));
  expect(allowed && identitiesOf(allowed)).toEqual(['external_id x new-1', 'external_id y new-1']);
  expect(refused && identitiesOf(refused)).toEqual(['external_id x new-1']);
  expect([allowed, refused].map((result) => sumLeftOut(result?.outcomes ?? []).keptApart)).toEqual([0, 1]);
});

test('externalIds: the second externalId of an event merges no people, and an externalId the person already has changes nothing', () => {
  const from = known(
    [knownPerson('v', 'x'), knownPerson('w', 'y')],
    [
      ['external_id', 'x', 'v'],
      ['external_id', 'x2', 'v'],
      ['external_id', 'y', 'w'],
    ],
  );
  const result = plan(
    [touch({ externalIds: ['x', 'y'] }), touch({ externalIds: ['y'] }), touch({ externalIds: ['x', 'x2'] })].map(
      (event) => limited(event, { externalIdsMax: 5 }),
    ),
    from,
  );
  expect(ids(result)).toEqual(['v', 'w', 'v']);
  expect([result.merges, result.writes]).toEqual([[], []]);
  expect(sumLeftOut(result.outcomes).keptApart).toBe(1);
});

test('externalIds: a tied externalId sets the property, even if the property was cleared at a later time', () => {
  const at = (receivedAtMs: number, event: VisitorTouch): VisitorTouch => ({ ...event, receivedAtMs });
  const result = plan([
    at(1_000, touch({ userId: 'u', externalIds: ['x'] })),
    at(3_000, touch({ userId: 'u' }, { external_id: null })),
    at(2_000, touch({ userId: 'u', externalIds: ['y'] })),
  ]);
  expect(ids(result)).toEqual(['u', 'u', 'u']);
  expect(propertiesOf(result)).toEqual([{ external_id: 'x' }, {}, { external_id: 'y' }]);
});

test('externalIds: a device without room for an externalId stays as it is, and a new person gets the event', () => {
  const event = touch({ userId: 'd', externalIds: ['x'.repeat(30)] });
  const tooLarge = plan([event, event], known([stored('d', { properties: { a: 'y'.repeat(60) } })]), 100);
  expect(ids(tooLarge)).toEqual(['new-1', 'new-1']);
  expect(sumLeftOut(tooLarge.outcomes).oversized).toBeGreaterThan(0);
  const full = plan([event], known([stored('d', { aliases: 4 })]), 1_000, { identifiersMax: 4 });
  expect(ids(full)).toEqual(['new-1']);
  expect(sumLeftOut(full.outcomes).full).toBe(1);
});

test('e-mail addresses: a visitor has as many as its account allows, and a further address does not lead to the visitor', () => {
  const events = [
    touch({ userId: 'u', emails: ['1@b.c', '2@b.c', '3@b.c'] }),
    ...['1@b.c', '2@b.c', '3@b.c'].map((email) => touch({ emails: [email] })),
  ].map((event) => sentWith('public', limited(event, { emailsMax: 2 })));
  const result = plan(events);
  expect(ids(result)).toEqual(['u', 'u', 'u', 'new-1']);
  expect(sumLeftOut(result.outcomes).overLimit).toBe(1);
});

test('e-mail addresses: a public key cannot add an address to a visitor whose address a server set; a server can', () => {
  const from = known([stored('u', { properties: { email: 'a@b.c' }, setByServer: 2, emails: 1 })]);
  const event = touch({ userId: 'u', emails: ['d@b.c'] });
  expect(identitiesOf(plan([sentWith('public', event)], from))).toEqual([]);
  const result = plan([event], from);
  expect(identitiesOf(result)).toEqual(['email d@b.c u']);
  // The visitor is written although no property changed, so that caches of the visitor learn the address.
  expect(result.writes).toMatchObject([{ id: 'u', emails: 2 }]);
});

test('e-mail addresses: the first address with an owner leads to the visitor, unless the event names an externalId', () => {
  const from = known([stored('v')], [['email', 'a@b.c', 'v']]);
  const emails = ['unknown@b.c', 'a@b.c'];
  expect(ids(plan([touch({ emails })], from))).toEqual(['v']);
  const looked = plan([sentWith('test', touch({ externalIds: ['x'], emails }))], from);
  expect(ids(looked)).not.toEqual(['v']);
  expect(looked.outcomes).toMatchObject([{ created: false }]);
});

test('sign-in: a visitor that cannot be read is neither merged nor written, and its own events are refused', () => {
  const people = [knownPerson('v', 'x', { createdAtUs: 5 }), stored('w', { isUnreadable: true })];
  const from = known(
    [stored('d', { isUnreadable: true }), ...people],
    [
      ['external_id', 'x', 'v'],
      ['email', 'v@b.c', 'v'],
      ['external_id', 'y', 'w'],
    ],
  );
  const city = { city: 'Oslo' };
  const events = [
    touch({ userId: 'd', externalIds: ['x'] }, city),
    touch({ userId: 'd', externalIds: ['new'] }),
    // Here the second externalId has an owner, the first has none.
    touch({ userId: 'd', externalIds: ['newer', 'x'] }),
    touch({ userId: 'd', externalIds: ['newest', 'x'], isAlias: true }),
    emailFirst(touch({ userId: 'd', emails: ['v@b.c'] })),
    touch({ externalIds: ['x', 'y'], emails: ['w@b.c'], isAlias: true }, city),
    touch({ externalIds: ['y'], emails: ['w@b.c'] }, city),
  ];
  const results = events.map((event) => plan([event], from));
  expect(results.map((result) => [ids(result), result.merges].flat())).toEqual([
    ['v'],
    ['refused'],
    ['new-1'],
    ['v'],
    ['v'],
    ['refused'],
    ['refused'],
  ]);
  for (const { writes, newIdentities } of [plan(events, from), ...results]) {
    const written = [...writes.map(({ id }) => id), ...newIdentities.map(({ visitorId }) => visitorId)];
    expect(written.filter((id) => id === 'd' || id === 'w')).toEqual([]);
  }
});

test('sign-in: two visitors whose merge was undone are not merged again, except by an alias', () => {
  const from = (apart: string) =>
    known([stored('d', { apart: ['m'] }), knownPerson('v', 'x', { apart: [apart] })], [['external_id', 'x', 'v']]);
  const signIn = touch({ userId: 'd', externalIds: ['x'] });
  const kept = plan([signIn], from('m'));
  expect([kept.merges, sumLeftOut(kept.outcomes).keptApart]).toEqual([[], 1]);
  expect(plan([signIn], from('other')).merges).toHaveLength(1);
  expect(plan([alias('d', 'x')], from('m')).merges).toHaveLength(1);
});

test('sign-in: two visitors are not merged if together they would exceed the id limit; an alias merges them regardless', () => {
  const from = known([stored('d'), knownPerson('v', 'x', { aliases: 1 })], [['external_id', 'x', 'v']]);
  const signIn = limited(touch({ userId: 'd', externalIds: ['x'] }), { userIdsMax: 2 });
  const result = plan([signIn, touch({ userId: 'd' })], from);
  expect([ids(result), result.merges, sumLeftOut(result.outcomes).overLimit]).toEqual([['v', 'v'], [], 1]);
  expect(plan([limited(alias('d', 'x'), { userIdsMax: 2 })], from).merges).toHaveLength(1);
});

test('sign-in: the person of a device is not merged with itself, and a device has no sign-in after its person is merged into it', () => {
  const again = plan([person('x', { userId: 'd' }), person('x', { userId: 'd' })]);
  expect([ids(again), again.merges, sumLeftOut(again.outcomes).keptApart]).toEqual([['d', 'd'], [], 0]);
  const from = known([stored('d', { createdAtUs: 1 }), knownPerson('v', 'x')], [['external_id', 'x', 'v']]);
  const result = plan([person('x', { userId: 'd' })], from);
  expect(result.merges).toMatchObject([{ from: 'v', into: 'd', record: { loser: { setByServer: 0 } } }]);
  expect(result.writes.map(({ signedInAs }) => signedInAs)).toEqual([undefined, undefined]);
});

test('sign-in: a repeated sign-in writes nothing, and the device’s own person may sign in again', () => {
  const from = known(
    [knownPerson('d', 'a', { signedInAs: 'w', setByServer: 8 }), knownPerson('w', 'b')],
    [
      ['external_id', 'a', 'd'],
      ['external_id', 'b', 'w'],
    ],
  );
  const signIn = touch({ userId: 'd', externalIds: ['b'] });
  const byPublic = plan([sentWith('public', signIn)], from);
  expect([ids(byPublic), byPublic.writes, sumLeftOut(byPublic.outcomes).notOverwritten]).toEqual([['w'], [], 0]);
  expect(plan([signIn], from).writes).toEqual([]);
  // A device that a server has identified, and on which an event with a public key signed the same person in earlier.
  const ofPage = known(
    [knownPerson('d', 'a', { signedInAs: 'w', setByServer: 1 }), knownPerson('w', 'b')],
    [['external_id', 'b', 'w']],
  );
  expect(plan([signIn], ofPage).writes).toMatchObject([{ id: 'd', signedInAs: 'w', setByServer: 9 }]);
  // A device that no server knows: afterwards a public key cannot sign in another person.
  const unknownToServers = known(
    [stored('d', { signedInAs: 'w' }), knownPerson('w', 'b'), knownPerson('v', 'c')],
    [
      ['external_id', 'b', 'w'],
      ['external_id', 'c', 'v'],
    ],
  );
  const other = sentWith('public', touch({ userId: 'd', externalIds: ['c'] }));
  const confirmed = plan([signIn, other], unknownToServers);
  expect(confirmed.writes).toMatchObject([{ id: 'd', signedInAs: 'w', setByServer: 8 }]);
  expect(sumLeftOut(confirmed.outcomes).notOverwritten).toBe(1);
  // The device's own person signs in again.
  const back = plan([touch({ userId: 'd', externalIds: ['a'] })], from);
  expect(back.writes).toMatchObject([{ id: 'd', signedInAs: undefined, setByServer: 0 }]);
});

test('merges: a record has the cause, the state of both, and the identifiers that the loser got in the batch', () => {
  const from = known([knownPerson('v', 'x', { createdAtUs: 1 })], [['external_id', 'x', 'v']]);
  const event = { id: 'e', sourceId: 's' };
  const result = plan(
    [
      touch({ userId: 'd', emails: ['d@b.c'] }),
      person('x', { emails: ['v@b.c'] }),
      { ...touch({ userId: 'd', externalIds: ['x'] }), event },
      touch({ userId: 'unseen', externalIds: ['x'] }),
    ],
    from,
  );
  expect(result.merges).toMatchObject([
    {
      from: 'd',
      into: 'v',
      record: {
        cause: { kind: 'signIn', eventId: 'e', sourceId: 's' },
        survivor: { setByServer: 1 },
        loser: { setByServer: 0 },
        loserIdentities: [{ kind: 'email', value: 'd@b.c' }],
      },
    },
    { from: 'unseen', into: 'v', record: undefined },
  ]);
});

test('alias: the device, the previous id and the new id become one visitor, whichever visitors had them', () => {
  const from = known(
    [stored('a'), knownPerson('p', 'a'), knownPerson('n', 'n')],
    [
      ['external_id', 'a', 'p'],
      ['external_id', 'n', 'n'],
    ],
  );
  const result = plan([alias('a', 'n'), touch({ userId: 'a' }), person('a'), person('n'), alias('a', 'n')], from);
  expect(new Set(ids(result)).size).toBe(1);
  expect(result.merges).toHaveLength(2);
  const ofPeople = known(
    [knownPerson('a', 'q'), knownPerson('p', 'a'), knownPerson('n', 'n')],
    [
      ['external_id', 'a', 'p'],
      ['external_id', 'n', 'n'],
    ],
  );
  expect(plan([alias('a', 'n')], ofPeople).merges).toHaveLength(2);
  const unknown = plan([touch({ userId: 'a' }), alias('a', 'p'), person('a')]);
  expect(ids(unknown)).toEqual(['a', 'a', 'a']);
});

test('alias: the device that sends an alias belongs to the person as well, even if there is no room to merge it', () => {
  const from = known(
    [knownPerson('v', 'old', { createdAtUs: 1 }), knownPerson('w', 'new')],
    [
      ['external_id', 'old', 'v'],
      ['external_id', 'new', 'w'],
    ],
  );
  const both = touch({ userId: 'd', externalIds: ['old', 'new'], isAlias: true });
  const created = plan([both, touch({ userId: 'd' })], from);
  expect(ids(created)).toEqual(['v', 'v']);
  expect(created.merges.map((merge) => [merge.from, merge.into])).toEqual([
    ['w', 'v'],
    ['d', 'v'],
  ]);
  expect(created.writes.map(({ signedInAs }) => signedInAs)).toEqual([undefined, undefined, undefined]);
  const full = plan([both, touch({ userId: 'd' })], from, 10_000, { identifiersMax: 3 });
  expect(ids(full)).toEqual(['v', 'v']);
  expect(full.merges).toHaveLength(1);
  const withoutDevice = plan([touch({ externalIds: ['old', 'new'], isAlias: true })], from);
  expect(withoutDevice.merges).toHaveLength(1);
  expect(withoutDevice.writes.map(({ id }) => id)).toEqual(['v', 'w']);
});

test.each<KeyTrust>(['server', 'public'])(
  'alias: the new id may be a device’s if no visitor has it as externalId (%s key)',
  (trust) => {
    const device = touch({ userId: 'd' }, { city: 'Oslo' });
    const later = [touch({ userId: 'd' }), touch({ externalIds: ['x'] }), touch({ externalIds: ['d'] })];
    for (const before of [[device], [device, touch({ externalIds: ['x'] })]]) {
      const events = [...before, alias('x', 'd'), ...later].map((event) => sentWith(trust, event));
      const result = plan(events);
      expect(new Set(ids(result).slice(before.length))).toEqual(new Set(['d']));
      expect(propertiesOf(result).at(-1)).toMatchObject({ city: 'Oslo' });
      expect(sumLeftOut(result.outcomes).keptApart).toBe(0);
    }
  },
);

test('alias: a device with the new id stays apart if the new id is an externalId, and known people if the key is public', () => {
  const owned = known(
    [stored('n'), knownPerson('p', 'old'), knownPerson('w', 'n')],
    [
      ['external_id', 'old', 'p'],
      ['external_id', 'n', 'w'],
    ],
  );
  expect(ids(plan([alias('old', 'n'), touch({ userId: 'n' })], owned))[1]).toBe('n');
  const people = known([knownPerson('n', 'other'), knownPerson('p', 'old')], [['external_id', 'old', 'p']]);
  const events = [alias('old', 'n'), touch({ userId: 'n' })];
  const byPublic = plan(
    events.map((event) => sentWith('public', event)),
    people,
  );
  expect(ids(byPublic)[1]).toBe('n');
  expect(byPublic.merges.filter(({ from, into }) => from === 'n' || into === 'n')).toEqual([]);
  expect(sumLeftOut(byPublic.outcomes).keptApart).toBe(1);
  expect(new Set(ids(plan(events, people))).size).toBe(1);
});

test('alias: an alias with a single id acts as a sign-in', () => {
  const result = plan([touch({ userId: 'd', externalIds: ['x'], isAlias: true }), person('x')]);
  expect(ids(result)).toEqual(['d', 'd']);
});

test('e-mail first: an externalId without an owner is added by a server, as far as the account allows', () => {
  const from = known([stored('v', { emails: 1 })], [['email', 'a@b.c', 'v']]);
  const event = touch({ externalIds: ['x'], emails: ['a@b.c'] });
  const added = plan([emailFirst(event), emailFirst(touch({ externalIds: ['y'], emails: ['a@b.c'] }))], from);
  expect([ids(added), identitiesOf(added)]).toEqual([['v', 'v'], ['external_id x v']]);
  expect(sumLeftOut(added.outcomes).keptApart).toBe(1);
  expect(added.writes.map(({ id }) => id)).toEqual(['v']);
  const second = emailFirst(touch({ externalIds: ['y'], emails: ['a@b.c'] }), { externalIdsMax: 2 });
  expect(identitiesOf(plan([emailFirst(event), second], from))).toEqual(['external_id x v', 'external_id y v']);
  const byPublic = plan([sentWith('public', emailFirst(event))], from);
  expect([ids(byPublic), identitiesOf(byPublic), sumLeftOut(byPublic.outcomes).keptApart]).toEqual([['v'], [], 1]);
});

test('e-mail first: the visitor’s own externalId changes nothing, and another visitor’s externalId is left out', () => {
  const from = known(
    [knownPerson('v', 'own', { emails: 1 }), knownPerson('w', 'other')],
    [
      ['email', 'a@b.c', 'v'],
      ['external_id', 'own', 'v'],
      ['external_id', 'other', 'w'],
    ],
  );
  const result = plan(
    [emailFirst(touch({ externalIds: ['other', 'own'], emails: ['a@b.c'] }), { externalIdsMax: 5 })],
    from,
  );
  expect([ids(result), identitiesOf(result), sumLeftOut(result.outcomes).keptApart]).toEqual([['v'], [], 1]);
});

test('e-mail first: the device is signed in as the visitor of the address, whether or not the device was known', () => {
  const from = known([stored('v', { emails: 1 }), stored('d')], [['email', 'a@b.c', 'v']]);
  for (const userId of ['d', 'new']) {
    const result = plan([emailFirst(touch({ userId, emails: ['a@b.c'] })), touch({ userId })], from);
    expect(ids(result)).toEqual(['v', 'v']);
    expect(result.merges).toEqual([]);
    expect(result.writes).toMatchObject([
      { id: userId, signedInAs: 'v', stored: userId === 'd' ? { id: 'd' } : undefined },
    ]);
  }
  const byPublic = known([stored('v', { emails: 1 }), stored('d', { signedInAs: 'v' })], [['email', 'a@b.c', 'v']]);
  const confirmed = plan([emailFirst(touch({ userId: 'd', externalIds: ['y'], emails: ['a@b.c'] }))], byPublic);
  expect(confirmed.writes.find(({ id }) => id === 'd')).toMatchObject({ signedInAs: 'v', setByServer: 8 });
});

test('e-mail first: an event whose identifiers all lead to one visitor keeps the rights of its key', () => {
  const from = known(
    [knownPerson('v', 'x', { emails: 1, setByServer: 4, properties: { phone_number: '+1' } })],
    [
      ['email', 'a@b.c', 'v'],
      ['external_id', 'x', 'v'],
    ],
  );
  const given = { phone_number: '+2' };
  for (const claim of [{ userId: 'v' }, { externalIds: ['x'] }]) {
    const event = sentWith('signed', emailFirst(touch({ ...claim, emails: ['a@b.c'] }, given)));
    expect(propertiesOf(plan([event], from))).toMatchObject([given]);
  }
  const byServer = emailFirst(touch({ externalIds: ['y'], emails: ['a@b.c'] }, given));
  expect(propertiesOf(plan([byServer], from))).toMatchObject([given]);
  const signed = sentWith('signed', touch({ externalIds: ['x'] }, given));
  expect(propertiesOf(plan([signed], from))).toMatchObject([given]);
});

test('clearing e-mail: addresses tied in the batch are removed too, for the visitor and visitors merged into it, and for no others', () => {
  const tied = plan([
    touch({ userId: 'u', externalIds: ['x'], emails: ['a@b.c'] }, { email: 'a@b.c' }),
    touch({ userId: 'o', emails: ['o@b.c'] }, { email: 'o@b.c' }),
    touch({ userId: 'u' }, { email: null }),
    touch({ emails: ['a@b.c'] }),
    touch({ emails: ['o@b.c'] }),
  ]);
  expect(ids(tied)).toEqual(['u', 'o', 'u', 'new-1', 'o']);
  expect(identitiesOf(tied)).toEqual(['external_id x u', 'email o@b.c o', 'email a@b.c new-1']);
  expect(tied.writes).toMatchObject([{ id: 'u', externalIds: 1, emails: 0 }, { emails: 1 }, { emails: 1 }]);
  const from = known(
    [
      knownPerson('v', 'x', { createdAtUs: 1, emails: 1 }),
      stored('d', { emails: 1, properties: { email: 'd@b.c' } }),
      knownPerson('w', 'y', { createdAtUs: 1 }),
      stored('e', { emails: 1 }),
    ],
    [
      ['external_id', 'x', 'v'],
      ['external_id', 'y', 'w'],
      ['email', 'd@b.c', 'd'],
      ['email', 'e@b.c', 'e'],
    ],
  );
  const merged = plan(
    [
      touch({ userId: 'e', externalIds: ['y'] }),
      touch({ userId: 'd', externalIds: ['x'] }),
      touch({ externalIds: ['x'] }, { email: null }),
      touch({ emails: ['d@b.c'] }),
      touch({ emails: ['e@b.c'] }),
    ],
    from,
  );
  expect(ids(merged)).toEqual(['w', 'v', 'v', 'new-1', 'w']);
  expect(merged.cleared.map(({ visitorId }) => visitorId)).toEqual(['v', 'd']);
});

test('properties: what fits exactly is stored, and a visitor that is too large may still shrink', () => {
  const bytesOf = (length: number) => plan([touch({ userId: 'u' }, { a: 'x'.repeat(length) })], known(), 100);
  expect([92, 93].map((length) => sumLeftOut(bytesOf(length).outcomes).oversized)).toEqual([0, 1]);
  const from = known([stored('u', { properties: { a: 'x'.repeat(150), b: 'y' } })]);
  const change = (given: Record<string, unknown>) => propertiesOf(plan([touch({ userId: 'u' }, given)], from, 100))[0];
  expect(change({ b: null })).toEqual({ a: 'x'.repeat(150) });
  expect(change({ b: 'z' })).toMatchObject({ b: 'z' });
  expect(change({ b: 'zz' })).toMatchObject({ b: 'y' });
  const looked = plan([sentWith('test', touch({ userId: 'v' }, { a: 1 }, { b: 'x'.repeat(200) }))], known(), 100);
  expect(propertiesOf(looked)).toEqual([{ a: 1 }]);
});

test('clearing external_id: the e-mail addresses stay', () => {
  const given = { external_id: 'x', email: 'a@b.c' };
  const result = plan([
    touch({ userId: 'u', externalIds: ['x'], emails: ['a@b.c'] }, given),
    touch({ userId: 'u' }, { external_id: null }),
  ]);
  expect(result.writes).toMatchObject([{ id: 'u', externalIds: 0, emails: 1 }]);
  expect(identitiesOf(result)).toEqual(['email a@b.c u']);
});

test('properties: clearing an email property that is not set takes no address from the visitor', () => {
  const from = known([stored('u', { emails: 1 })], [['email', 'a@b.c', 'u']]);
  const result = plan([touch({ userId: 'u' }, { email: null, city: 'Oslo' })], from);
  expect(result.cleared).toEqual([]);
});

test('properties: a value that a server repeats counts as set by it, and an outcome without refusals has no leftOut', () => {
  const from = known([stored('u', { properties: { email: 'a@b.c' } })]);
  expect(plan([touch({ userId: 'u' }, { email: 'a@b.c' })], from).writes).toMatchObject([{ id: 'u', setByServer: 2 }]);
  const owned = known([stored('u', { properties: { email: 'a@b.c' }, setByServer: 2 })]);
  const [outcome] = plan([sentWith('public', touch({ userId: 'u' }, { city: 'Oslo' }))], owned).outcomes;
  expect(outcome).not.toHaveProperty('leftOut');
});

test('plans: a plan names the accounts that have something to write', () => {
  const events = [
    touch({ userId: 'u', externalIds: ['x'], emails: ['a@b.c'] }),
    { ...sentWith('test', touch({ userId: 'u' })), accountId: 'other' },
  ];
  expect([...plan(events).changed]).toEqual([accountId]);
  const from = known([stored('u', { emails: 1, properties: { email: 'a@b.c' } })], [['email', 'a@b.c', 'u']]);
  expect([...plan([touch({ userId: 'u' }, { email: null })], from).changed]).toEqual([accountId]);
});
