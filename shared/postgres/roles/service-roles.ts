/** Rights of a role on the rows of a table. Locking a row needs `update` as well. */
export type TableRight = 'select' | 'insert' | 'update' | 'delete';

/** Rights by the name of the table. */
export type RoleRights = Readonly<Record<string, readonly TableRight[]>>;

const read = ['select'] as const;
const add = ['select', 'insert'] as const;
const all = ['select', 'insert', 'update', 'delete'] as const;

/**
 * Rights of each service's role in PostgreSQL. No service may create, alter or drop tables: migrations do so as the
 * owner. Gateways use no database.
 */
export const serviceRights = {
  /** The configuration, and the data that the console shows. The audit trail cannot be changed, only extended. */
  controlPlane: {
    accounts: all,
    account_keys: ['select', 'insert', 'update'],
    api_keys: all,
    approvals: all,
    audit_entries: add,
    deployment: read,
    entities: all,
    erasure_destinations: ['select', 'insert', 'update'],
    // A function with the owner's rights computes hashes with these keys.
    erasure_keys: [],
    erasure_notices: all,
    erasure_records: ['select', 'insert', 'update'],
    erasures: all,
    event_outcomes: read,
    // An erasure deletes these rows.
    experiment_assignments: ['select', 'insert', 'delete'],
    experiment_visitors: ['select', 'delete'],
    identity_counts: read,
    migrations: read,
    outbox: all,
    personal_data: ['select', 'update', 'delete'],
    publications: all,
    // A trigger with the owner's rights writes the rows.
    published_destinations: read,
    recent_events: ['select', 'delete'],
    saved_views: all,
    sessions: ['select', 'insert', 'delete'],
    sign_in_links: ['select', 'insert', 'delete'],
    source_keys: all,
    source_secrets: all,
    users: all,
    versions: all,
    violations: read,
    // A split returns identities to their earlier visitor.
    visitor_identities: all,
    visitor_merges: all,
    // Locking a row needs `update`.
    visitors: ['select', 'update', 'delete'],
  },
  /** Visitors and the outcomes of their events; not the configuration, which pipelines read from the log. */
  pipeline: {
    deployment: read,
    erasures: read,
    event_outcomes: ['select', 'insert', 'update'],
    experiment_assignments: read,
    experiment_visitors: ['select', 'insert', 'update'],
    identity_counts: all,
    // The doctor reads this table, if its DATABASE_URL names this role.
    migrations: read,
    personal_data: ['select', 'insert', 'update'],
    recent_events: all,
    recent_places: ['select', 'insert', 'update'],
    // A trigger inserts the rows, with the owner's rights.
    visitor_changes: ['select', 'delete'],
    visitor_identities: all,
    visitor_merges: ['select', 'insert', 'delete'],
    violations: all,
    visitors: ['select', 'insert', 'update'],
  },
} as const satisfies Readonly<Record<string, RoleRights>>;

export type DatabaseService = keyof typeof serviceRights;
