import { scopeNames } from './scopes.ts';

/** Keys, users and rights are for admins; the audit trail is also for privacy officers. */
const adminNouns: ReadonlySet<string> = new Set(['all', 'key', 'user', 'account', 'system', 'pii', 'audit']);
const personNouns: ReadonlySet<string> = new Set(['visitor', 'erasure', 'suppression', 'quarantine']);
/** Nouns whose changes are a legal matter, not a matter of campaigns. */
const privacyNouns: ReadonlySet<string> = new Set([
  'consentSettings',
  'dataGovernanceEvents',
  'dataGovernanceRules',
  'externalAllowedEventData',
]);
const readActions: ReadonlySet<string> = new Set(['list', 'find', 'find-default', 'find-custom']);
const publishing: ReadonlySet<string> = new Set([
  'version:approve',
  'version:publish',
  'version:delete',
  'experiment:start',
  'experiment:stop',
  'quarantine:release',
  'quarantine:delete',
]);

/** The roles of people in an account, each with all scopes that its work needs. Roles with more rights follow. */
export const roles = {
  viewer: {
    label: 'Viewer',
    summary: 'Reads the configuration, events, visitors and delivery. Changes nothing.',
    scopes: scopesOf({}),
  },
  editor: {
    label: 'Editor',
    summary: 'Also changes sources, destinations, rules and experiments in the draft, and replays. Does not publish.',
    scopes: scopesOf({ edits: true }),
  },
  publisher: {
    label: 'Publisher',
    summary: 'Also approves and publishes versions, starts and ends experiments, and releases quarantined events.',
    scopes: scopesOf({ edits: true, publishes: true }),
  },
  'privacy-officer': {
    label: 'Privacy officer',
    summary:
      'Reads everything, unmasked, with the audit trail. Erases, suppresses and merges visitors, and changes consent, the tracking plan and masking in the draft.',
    scopes: scopesOf({ protects: true }),
  },
  admin: {
    label: 'Admin',
    summary: 'Everything in the account, with API keys and users.',
    scopes: ['all'],
  },
} as const satisfies Readonly<Record<string, Role>>;

export type Role = { readonly label: string; readonly summary: string; readonly scopes: readonly string[] };
export type RoleName = keyof typeof roles;

export const roleNames = Object.keys(roles) as readonly RoleName[];

export const isRole = (name: string): name is RoleName => Object.hasOwn(roles, name);

/** The scopes of a stored role; empty for a role that this release does not know. */
export const scopesOfRole = (name: string): readonly string[] => (isRole(name) ? roles[name].scopes : []);

/** The rights of a role besides reading. */
type Work = {
  readonly edits?: boolean;
  readonly publishes?: boolean;
  readonly protects?: boolean;
};

/** Derived from the list of all scopes, so that each role whose work covers a new collection gets its scopes. */
function scopesOf({ edits = false, publishes = false, protects = false }: Work): readonly string[] {
  return scopeNames.filter((scope) => {
    const [noun = '', action = ''] = scope.split(':');
    if (scope === 'account:find') return true;
    if (protects && (personNouns.has(noun) || privacyNouns.has(noun))) return true;
    if (['pii:read', 'audit:list', 'account:update'].includes(scope)) return protects;
    if (adminNouns.has(noun)) return false;
    if (readActions.has(action)) return true;
    if (publishing.has(scope)) return publishes;
    return edits && !personNouns.has(noun);
  });
}
