import { collectionNames } from '../../shared/contracts/config/account-config.ts';

const entityActions = ['list', 'find', 'create', 'update', 'delete'] as const;
const servedOnTheirOwn = new Set(['destinations', 'sources']);

/** Every scope a key can carry. */
export const scopeNames: readonly string[] = [
  'all',
  ...entityActions.map((action) => `destination:${action}`),
  ...entityActions.map((action) => `source:${action}`),
  'version:list',
  'version:find',
  'version:create',
  'version:update',
  'version:publish',
  'event:list',
  'visitor:find',
  'visitor:delete',
  'key:list',
  'key:create',
  'key:delete',
  'audit:list',
  'activity:find',
  'system:find',
  ...collectionNames
    .filter((name) => !servedOnTheirOwn.has(name))
    .flatMap((name) => entityActions.map((action) => `${name}:${action}`)),
];

/** Other names and wider scopes that stand for a scope. */
const alternatives: Readonly<Record<string, readonly string[]>> = {
  'source:find': ['source:view'],
  'version:create': ['version:publish'],
};

/** Whether a key with `granted` may do what needs `scope`. */
export function hasScope(granted: readonly string[], scope: string): boolean {
  const enough = ['all', scope, ...(alternatives[scope] ?? [])];
  return granted.some((one) => enough.includes(one));
}

/** Names a key can be created with: the scopes, and the old name of one. */
export function isScope(name: string): boolean {
  return name === 'source:view' || scopeNames.includes(name);
}
