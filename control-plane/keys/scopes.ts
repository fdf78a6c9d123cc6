import { flag } from '../../shared/runtime/variables.ts';
import { collectionNames } from '../../shared/collections/registry.ts';

export const scopesEnv = {
  SYSTEM_FIND_WITH_ALL: flag(
    'Whether keys with the scope `all` also see the installation (`system:find`: processes, partitions, findings, alerts). ' +
      'Right where all accounts are of one owner; where they are not, one would see who else there is',
    false,
  ),
};

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

/**
 * Scopes for what all accounts of an installation share. `all`, which is all of one account, does not stand for them: a
 * key has them by name, which the first key of an installation and the command line give.
 */
const ofInstallation: ReadonlySet<string> = new Set(['system:find']);

/** Other names and wider scopes that stand for a scope. */
const alternatives: Readonly<Record<string, readonly string[]>> = {
  'source:find': ['source:view'],
  'version:create': ['version:publish'],
};

/** Whether a key with `granted` may do what needs `scope`. */
export function hasScope(granted: readonly string[], scope: string): boolean {
  const enough = [...(ofInstallation.has(scope) ? [] : ['all']), scope, ...(alternatives[scope] ?? [])];
  return granted.some((one) => enough.includes(one));
}

/** Every scope there is, as the key of who runs the installation has them. */
export const operatorScopes: readonly string[] = ['all', ...ofInstallation];

/** What a key may do where `all` stands for the installation as well, since it has one owner. Pure. */
export function withInstallation(granted: readonly string[]): readonly string[] {
  return granted.includes('all') ? [...new Set([...granted, ...ofInstallation])] : granted;
}

/** Names a key can be created with: the scopes, and the old name of one. */
export function isScope(name: string): boolean {
  return name === 'source:view' || scopeNames.includes(name);
}
