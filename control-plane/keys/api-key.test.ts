import { expect, test } from 'vitest';
import { hashApiKey, issueApiKey, principalOfKey, readKid, sameHash } from './api-key.ts';
import { isValidAt } from './authenticate.ts';
import { randomText } from '../store/text.ts';
import { hasScope, isScope, mayList, operatorScopes, scopeNames, withInstallation } from './scopes.ts';

test('api key: has a prefix, an id and a secret, and its hash covers the whole key', () => {
  const { key, kid, secretHash } = issueApiKey();
  expect(key).toMatch(/^slk_[A-Za-z0-9]{12}_[A-Za-z0-9]{43}$/);
  expect(readKid(key)).toBe(kid);
  expect(sameHash(hashApiKey(key), secretHash)).toBe(true);
  expect(sameHash(hashApiKey(`${key.slice(0, -1)}_`), secretHash)).toBe(false);
});

test.each(['', 'slk_', 'slk_short_x', `src_live_${'a'.repeat(43)}`, `slk_AAAAAAAAAAAA_${'a'.repeat(44)}`])(
  'api key: %j cannot be an API key',
  (text) => {
    expect(readKid(text)).toBeUndefined();
  },
);

test('random text: has the requested length and only letters and digits, all equally likely', () => {
  const text = randomText(62_000);
  expect(text).toMatch(/^[A-Za-z0-9]{62000}$/);
  const counts = new Map<string, number>();
  for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  expect(counts.size).toBe(62);
  // 1,000 of each are expected, with a standard deviation of 31: a difference of 250 practically never happens.
  for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(250);
});

test('api key: is valid until its revocation or its expiry', () => {
  const now = new Date(1_000);
  const at = (ms: number): Date => new Date(ms);
  expect(isValidAt({ expiresAt: null, revokedAt: null }, now)).toBe(true);
  expect(isValidAt({ expiresAt: at(1_001), revokedAt: null }, now)).toBe(true);
  expect(isValidAt({ expiresAt: at(1_000), revokedAt: null }, now)).toBe(false);
  expect(isValidAt({ expiresAt: null, revokedAt: at(999) }, now)).toBe(false);
});

test('api key: its principal is the key, with the account, the scopes and the expiry of the key', () => {
  const key = { accountId: 'a', id: 'k', name: 'deploy', scopes: ['event:list'], expiresAt: new Date(1_000) };
  expect(principalOfKey(key)).toEqual({ ...key, kind: 'key' });
});

test.each([
  ['mappings', 'mappings:list'],
  ['destinations', 'destination:list'],
  ['sources', 'source:list'],
] as const)('scopes: to list %s a key needs %s', (collection, scope) => {
  const others = scopeNames.filter((name) => name !== scope && name !== 'all');
  expect([mayList([scope], collection), mayList(others, collection)]).toEqual([true, false]);
});

test('scopes: `all` grants every scope of the account and none of the installation, and any other scope only itself', () => {
  for (const scope of scopeNames) {
    expect([scope, hasScope(['all'], scope)]).toEqual([scope, scope !== 'system:find']);
    expect(hasScope(operatorScopes, scope)).toBe(true);
    expect(hasScope(withInstallation(['all']), scope)).toBe(true);
    expect(hasScope([scope], scope)).toBe(true);
    expect(isScope(scope)).toBe(true);
  }
  expect(hasScope(['destination:list'], 'destination:find')).toBe(false);
  expect(hasScope([], 'destination:list')).toBe(false);
  expect(isScope('destination:everything')).toBe(false);
});
