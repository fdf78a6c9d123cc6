import { expect, test } from 'vitest';
import { routeTable } from '../testing/route-table.ts';
import { isRole, roleNames, roles, scopesOfRole } from './roles.ts';
import { hasScope, scopeNames } from './scopes.ts';

const held = (role: keyof typeof roles): readonly string[] => roles[role].scopes;

test('roles: every role has only existing scopes, and a wider role has all scopes of the narrower role', () => {
  for (const role of roleNames) {
    for (const scope of held(role)) expect([role, scopeNames.includes(scope)]).toEqual([role, true]);
  }
  expect(held('editor')).toEqual(expect.arrayContaining([...held('viewer')]));
  expect(held('publisher')).toEqual(expect.arrayContaining([...held('editor')]));
  expect(held('privacy-officer')).toEqual(expect.arrayContaining([...held('viewer')]));
});

/** The scopes of routes that a role cannot call, from the table of routes, which is written by hand. */
const lacking = (role: keyof typeof roles, methods: readonly string[]): readonly string[] => {
  const closed = routeTable.filter(
    ({ method, scope }) => methods.includes(method) && scope !== undefined && !hasScope(held(role), scope),
  );
  return [...new Set(closed.map(({ scope }) => scope ?? ''))].toSorted();
};

test('roles: a viewer reads every route except keys, users, the audit trail, the installation and tokens of sources', () => {
  const notRead = ['audit:list', 'key:list', 'source:tokens', 'system:find', 'user:list'];
  expect(lacking('viewer', ['GET'])).toEqual(notRead);
  expect(lacking('editor', ['GET'])).toEqual(notRead.filter((scope) => scope !== 'source:tokens'));
  expect(lacking('privacy-officer', ['GET'])).toEqual(notRead.filter((scope) => scope !== 'audit:list'));
});

test('roles: a viewer cannot change the configuration, and an editor can change all of the draft', () => {
  const changes = ['POST', 'PUT', 'PATCH', 'DELETE'];
  const opened = routeTable.filter(({ method, scope }) => method !== 'GET' && hasScope(held('viewer'), scope ?? ''));
  expect(opened.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
    'POST /events/{event}/ways',
    'POST /rules/matches',
    'POST /sources/tokens/check',
    'POST /tracking-plan/try',
  ]);
  const administered = ['account:update', 'key:create', 'key:delete', 'user:create', 'user:delete', 'user:update'];
  const ofPeople = ['erasure:update', 'suppression:create', 'suppression:delete', 'visitor:delete', 'visitor:update'];
  const published = ['experiment:start', 'experiment:stop', 'quarantine:delete', 'quarantine:release'];
  const closed = [...administered, ...ofPeople];
  expect(lacking('publisher', changes)).toEqual(closed.toSorted());
  expect(lacking('editor', changes)).toEqual(
    [...closed, ...published, 'version:approve', 'version:delete', 'version:publish'].toSorted(),
  );
});

test('roles: a privacy officer can do all work with personal data, and an admin can do everything in an account', () => {
  const work = scopeNames.filter((scope) =>
    /^(visitor|erasure|suppression|quarantine|pii|violation|consentSettings):/.test(scope),
  );
  expect(work.filter((scope) => !hasScope(held('privacy-officer'), scope))).toEqual([]);
  expect(scopeNames.filter((scope) => !hasScope(held('admin'), scope))).toEqual(['system:find']);
});

test('roles: a user has the scopes of its role, and no scopes if this release does not know the role', () => {
  for (const role of roleNames) expect([role, isRole(role), scopesOfRole(role)]).toEqual([role, true, held(role)]);
  for (const role of ['owner', 'toString', ''])
    expect([role, isRole(role), scopesOfRole(role)]).toEqual([role, false, []]);
});
