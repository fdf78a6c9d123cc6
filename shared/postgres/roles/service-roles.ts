/** Rights of a role on the rows of a table. Locking a row needs `update` as well. */
export type TableRight = 'select' | 'insert' | 'update' | 'delete';

/** By table. */
export type RoleRights = Readonly<Record<string, readonly TableRight[]>>;

const read = ['select'] as const;
const add = ['select', 'insert'] as const;
const all = ['select', 'insert', 'update', 'delete'] as const;

/**
 * Rights of each service's role in PostgreSQL. None may create, change or drop a table: migrations do, as the owner.
 * Gateways have no database.
 */
export const serviceRights = {
  /** The configuration, and the data that the console shows. It cannot change the audit trail. */
  controlPlane: {
    accounts: all,
    account_keys: ['select', 'insert', 'update'],
    api_keys: all,
    approvals: all,
    audit_entries: add,
    deployment: read,
    entities: all,
    // Their hashes are made by a function with the owner's rights.
    erasure_destinations: ['select', 'insert', 'update'],
    erasure_keys: [],
    erasure_records: ['select', 'insert', 'update'],
    erasures: all,
    event_outcomes: read,
    // Nothing of an erased visitor remains.
    experiment_assignments: ['select', 'insert', 'delete'],
    experiment_visitors: ['select', 'delete'],
    identity_counts: read,
    migrations: read,
    outbox: all,
    personal_data: ['select', 'update', 'delete'],
    publications: all,
    recent_events: ['select', 'delete'],
    saved_views: all,
    sessions: ['select', 'insert', 'delete'],
    sign_in_links: ['select', 'insert', 'delete'],
    source_keys: all,
    source_secrets: all,
    users: all,
    versions: all,
    violations: read,
    // A split gives back what was taken from a visitor.
    visitor_identities: all,
    visitor_merges: all,
    // To lock a row takes `update`.
    visitors: ['select', 'update', 'delete'],
  },
  /** Visitors and the outcomes of their events; not the configuration, which comes over the log. */
  pipeline: {
    deployment: read,
    erasures: read,
    event_outcomes: ['select', 'insert', 'update'],
    experiment_assignments: read,
    experiment_visitors: ['select', 'insert', 'update'],
    identity_counts: all,
    // For the doctor.
    migrations: read,
    personal_data: ['select', 'insert', 'update'],
    recent_events: all,
    recent_places: ['select', 'insert', 'update'],
    // A trigger writes it, with the owner's rights.
    visitor_changes: ['select', 'delete'],
    visitor_identities: all,
    visitor_merges: ['select', 'insert', 'delete'],
    violations: all,
    visitors: ['select', 'insert', 'update'],
  },
} as const satisfies Readonly<Record<string, RoleRights>>;

export type DatabaseService = keyof typeof serviceRights;
