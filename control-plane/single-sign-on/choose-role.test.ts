import { expect, test } from 'vitest';
import type { RoleRule } from '../sessions/sign-in-settings.ts';
import { roleOfClaims, roleOfNewcomer } from './choose-role.ts';

test('roles of single sign-on: the first matching claim decides, then the domain, then the default', () => {
  const roles: RoleRule[] = [
    { claim: 'groups', value: 'a', role: 'admin' },
    { claim: 'groups', value: 'b', role: 'editor' },
    { emailDomain: 'Example.com', role: 'publisher' },
  ];
  const rules = { roles, defaultRole: 'viewer' } as const;
  expect(roleOfClaims(rules, { groups: ['b', 'a'] })).toBe('admin');
  expect(roleOfClaims(rules, { groups: 'b' })).toBe('editor');
  expect(roleOfClaims(rules, { groups: { a: true }, constructor: 'a' })).toBeUndefined();
  // Every ID token names the client, so a last rule for it fits all others.
  const last: RoleRule = { claim: 'aud', value: 'sluice', role: 'viewer' };
  expect(roleOfClaims({ roles: [...roles, last] }, { aud: ['sluice'], groups: ['b'] })).toBe('editor');
  expect(roleOfClaims({ roles: [...roles, last] }, { aud: ['sluice'] })).toBe('viewer');
  expect(roleOfNewcomer(rules, {}, 'x@example.com')).toBe('publisher');
  expect(roleOfNewcomer(rules, {}, 'x@sub.example.com')).toBe('viewer');
  expect(roleOfNewcomer({}, {}, 'x@example.com')).toBeUndefined();
});
