import { expect, test } from 'vitest';
import type { VisitorClaim } from './visitor-identity.ts';
import {
  afterServerGave,
  afterSignIn,
  bitOfProperty,
  contradict,
  followsSignIn,
  isServerSet,
  isSignedInByServer,
  keptFromPublic,
  mergedBits,
  ruledByServer,
  setByPublicOnly,
  signedInBit,
  tiesAsServer,
} from './server-set.ts';

const { external_id: ofId, email: ofEmail, phone_number: ofPhone } = bitOfProperty;

test('server-set: a row has a bit for each protected property, and a bit for a sign-in that a server sent', () => {
  expect(new Set([ofId, ofEmail, ofPhone, signedInBit]).size).toBe(4);
  expect([isServerSet(ofEmail | signedInBit, 'email'), isServerSet(ofId, 'email')]).toEqual([true, false]);
  expect([isSignedInByServer(ofId | signedInBit), isSignedInByServer(ofId)]).toEqual([true, false]);
  expect([afterSignIn(ofId, true), afterSignIn(ofId | signedInBit, false)]).toEqual([ofId | signedInBit, ofId]);
  expect([afterSignIn(signedInBit, true), afterSignIn(0, false)]).toEqual([signedInBit, 0]);
});

test('server-set: a merge leaves the sign-in bit with each row, and gives the survivor all other bits', () => {
  expect(mergedBits(ofId, ofEmail | signedInBit)).toEqual({ survivor: ofId | ofEmail, loser: signedInBit });
  expect(mergedBits(ofId | signedInBit, ofEmail)).toEqual({ survivor: ofId | ofEmail | signedInBit, loser: 0 });
});

test.each<[isServer: boolean, row: number, own: number, follows: boolean]>([
  [false, 0, ofId, true],
  [true, signedInBit, ofId, true],
  [true, 0, 0, true],
  [true, 0, signedInBit, true],
  [true, 0, ofId, false],
  [true, ofId, ofId | signedInBit, false],
])(
  'server-set: an event sent by a server (%s) on a row with bits %i and a visitor with bits %i follows the sign-in: %s',
  (...given) => {
    const [isServer, row, own, follows] = given;
    expect(followsSignIn(isServer, row, own)).toBe(follows);
  },
);

test('server-set: a signed event may link identifiers as a server may, but only if the event has a single id', () => {
  const claim: VisitorClaim = { userId: 'u', externalIds: [], emails: [], anonymousId: undefined };
  const both = { ...claim, externalIds: ['x'] };
  expect((['server', 'signed', 'public', 'test'] as const).map((trust) => tiesAsServer(trust, claim))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect((['server', 'signed', 'public'] as const).map((trust) => tiesAsServer(trust, both))).toEqual([
    true,
    false,
    false,
  ]);
});

test.each<[string, number, Record<string, unknown>, Record<string, unknown>, number]>([
  ['a value sets', 0, { email: 'a@b.c' }, { email: 'a@b.c' }, ofEmail],
  ['an address in another case sets', 0, { email: 'A@B.c' }, { email: 'a@b.c ' }, ofEmail],
  ['a phone number in another case does not', 0, { phone_number: 'A' }, { phone_number: 'a' }, 0],
  ['a value that is not the one there does not', 0, { email: 'a@b.c' }, { email: 'd@b.c' }, 0],
  ['values that are no addresses are not the same', 0, { email: 7 }, { email: 8 }, 0],
  ['a value that was not stored changes nothing', ofEmail, { email: 'a@b.c' }, {}, ofEmail],
  ['null that cleared takes away', ofEmail | ofId, { email: null }, {}, ofId],
  ['null that cleared nothing leaves it', ofEmail, { email: null }, { email: 'a@b.c' }, ofEmail],
  ['an empty text and nothing say nothing', ofEmail, { email: '', phone_number: undefined }, {}, ofEmail],
  ['another property is not protected', 0, { city: 'Oslo' }, { city: 'Oslo' }, 0],
])('server-set: the bits after a server sent properties: %s', (_what, bits, given, after, expected) => {
  expect(afterServerGave(bits, given, after)).toBe(expected);
});

test('server-set: a public key may not change a property that a server has set to another value', () => {
  const current = { external_id: 'x', email: 'a@b.c', phone_number: '+1' };
  const given = { external_id: 'y', email: 'A@b.c', phone_number: null, city: 'Oslo' };
  expect(keptFromPublic(ofId | ofEmail | ofPhone, current, given)).toEqual(['external_id', 'phone_number']);
  expect(keptFromPublic(ofEmail, current, given)).toEqual([]);
  expect(keptFromPublic(ofEmail, current, { email: 'd@b.c' })).toEqual(['email']);
  expect(keptFromPublic(0, current, given)).toEqual([]);
  expect(keptFromPublic(ofId, current, { external_id: '' })).toEqual([]);
  expect([...setByPublicOnly(ofId, { external_id: 'x', email: 'a@b.c' })]).toEqual(['email']);
});

test('server-set: two visitors contradict each other if a server set the same property of both to different values', () => {
  const a = { bits: ofEmail | ofPhone, value: { email: 'a@b.c', phone_number: '+1' } };
  expect(contradict(a, { bits: ofEmail, value: { email: 'A@B.C' } })).toBe(false);
  expect(contradict(a, { bits: ofEmail, value: { email: 'd@b.c' } })).toBe(true);
  expect(contradict(a, { bits: ofId, value: { email: 'd@b.c' } })).toBe(false);
  expect(ruledByServer(a, { bits: ofId | ofPhone, value: { external_id: 'x', email: 'd@b.c' } })).toEqual({
    external_id: 'x',
    email: 'a@b.c',
  });
});
