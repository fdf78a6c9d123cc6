import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { flag } from '../../shared/runtime/variables.ts';
import { collectionNames } from '../../shared/collections/registry.ts';
import type { CollectionName } from '../../shared/collections/registry.ts';

export const { variables: scopesEnv, read: readScopesSettings } = defineSettings({
  allFindsSystem: fromEnv({
    SYSTEM_FIND_WITH_ALL: flag(
      'Whether keys with the scope `all` also see the installation (`system:find`: processes, partitions, findings, alerts). ' +
        'Enable it only if all accounts have one owner; with several owners, each would see the others’ accounts',
      false,
    ),
  }),
});

const entityActions = ['list', 'find', 'create', 'update', 'delete'] as const;
type EntityAction = (typeof entityActions)[number];
const servedOnTheirOwn = new Set(['destinations', 'sources']);

/** Every scope a key can carry. */
export const scopeNames: readonly string[] = [
  'all',
  ...entityActions.map((action) => `destination:${action}`),
  ...entityActions.map((action) => `source:${action}`),
  // A client that can read a source's keys can send events as that source.
  'source:tokens',
  'version:list',
  'version:find',
  'version:create',
  'version:update',
  'version:publish',
  // To approve or reject a version that another key or user made.
  'version:approve',
  'version:delete',
  'event:list',
  // Without it values of visitors and events are masked.
  'pii:read',
  'visitor:find',
  // To merge and split visitors.
  'visitor:update',
  'visitor:delete',
  'erasure:list',
  'erasure:find',
  // To make destinations retry an erasure, and to confirm an erasure that was done by hand.
  'erasure:update',
  'suppression:list',
  'suppression:create',
  'suppression:delete',
  'violation:list',
  'quarantine:list',
  'quarantine:release',
  'quarantine:delete',
  'key:list',
  'key:create',
  'key:delete',
  // People who sign in to the console.
  'user:list',
  'user:create',
  'user:update',
  'user:delete',
  'account:find',
  'account:update',
  'audit:list',
  'activity:find',
  'system:find',
  ...collectionNames
    .filter((name) => !servedOnTheirOwn.has(name))
    .flatMap((name) => entityActions.map((action) => `${name}:${action}`)),
  // The platform library's own scopes: start, end and publish experiments, and read the variables of mappings.
  'experiment:start',
  'experiment:stop',
  'variables:find-default',
  'variables:find-custom',
];

/** Collections whose scopes the platform library of the specified service knows under another name. */
const libraryNouns = {
  allowedEvents: 'allowedEvent',
  globalDispatchCenters: 'globalDispatch',
  mappings: 'mapping',
  experiments: 'experiment',
} as const satisfies Partial<Record<CollectionName, string>>;

/** The platform library treats a variant as part of its experiment. */
const variantScopes: Readonly<Record<EntityAction, string>> = {
  list: 'experiment:find',
  find: 'experiment:find',
  create: 'experiment:update',
  update: 'experiment:update',
  delete: 'experiment:update',
};

/**
 * Scopes for data that all accounts of an installation share. `all` covers one account and does not include them: keys
 * get them by name, unless SYSTEM_FIND_WITH_ALL is set. The first key of an installation has them.
 */
const ofInstallation: ReadonlySet<string> = new Set(['system:find']);

/** Wider scopes and other names that include a scope. */
const alternatives: Readonly<Record<string, readonly string[]>> = {
  'source:find': ['source:view'],
  // The platform library reads keys with `source:view`. With `source:update`, a rotation returns the new key anyway.
  'source:tokens': ['source:view', 'source:update'],
  'version:create': ['version:publish'],
  ...Object.fromEntries(
    entityActions.flatMap((action) => [
      ...Object.entries(libraryNouns).map(([ours, theirs]) => [`${ours}:${action}`, [`${theirs}:${action}`]]),
      [`experimentVariants:${action}`, [variantScopes[action]]],
    ]),
  ),
};

/** Whether a key with `granted` may do what needs `scope`. */
export function hasScope(granted: readonly string[], scope: string): boolean {
  return grantingScope(granted, scope) !== undefined;
}

/** Whether a key with `granted` may list the entities of a collection. */
export function mayList(granted: readonly string[], collection: CollectionName): boolean {
  const noun = servedOnTheirOwn.has(collection) ? collection.replace(/s$/, '') : collection;
  return hasScope(granted, `${noun}:list`);
}

/** The scope in `granted` that allows what needs `scope`. */
export function grantingScope(granted: readonly string[], scope: string): string | undefined {
  const enough = [...(ofInstallation.has(scope) ? [] : ['all']), scope, ...(alternatives[scope] ?? [])];
  return granted.find((one) => enough.includes(one));
}

/** Names with which a key can be created: the scopes, the old name `source:view`, and the platform library's names. */
export const grantableNames: readonly string[] = [
  ...scopeNames,
  'source:view',
  ...Object.values(libraryNouns).flatMap((noun) => entityActions.map((action) => `${noun}:${action}`)),
];

/** The scopes of the operator's key: every scope. */
export const operatorScopes: readonly string[] = ['all', ...ofInstallation];

/** The scopes of a key in an installation with one owner, where `all` includes the installation's scopes. Pure. */
export function withInstallation(granted: readonly string[]): readonly string[] {
  return granted.includes('all') ? [...new Set([...granted, ...ofInstallation])] : granted;
}

export function isScope(name: string): boolean {
  return grantableNames.includes(name);
}
