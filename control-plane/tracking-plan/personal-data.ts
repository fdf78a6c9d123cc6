import type { Snapshot } from '../../shared/collections/registry.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { Queryable } from '../../shared/visitors/visitor-statements.ts';
import type { PersonalKind } from '../../shared/routing/personal-data/personal-kinds.ts';
import { isReadBy, tracedReport } from '../versions/privacy-report.ts';
import type { TracedRow } from '../versions/privacy-report.ts';

/** A property that looks personal, as resolvers found it. */
export type FoundProperty = {
  readonly event: string;
  readonly property: string;
  readonly kind: PersonalKind;
  readonly basis: 'name' | 'shape' | 'both';
  readonly seen: number;
  readonly matched: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  readonly shape: string;
  readonly dismissedAt: Date | null;
};

/** PostgreSQL returns the counts (`int8`) as texts. */
type StoredProperty = Omit<FoundProperty, 'seen' | 'matched'> & { readonly seen: string; readonly matched: string };

/** Stands for every event in `FoundProperty`. */
export const everyEvent = '*';

const columns = `event, property, kind, basis, seen::int8, matched::int8, first_at as "firstAt", last_at as "lastAt", shape,
  dismissed_at as "dismissedAt"`;

/** The properties of an account that look personal, up to 2,000, the last seen first. */
export async function readPersonalData(db: Queryable, accountId: string): Promise<readonly FoundProperty[]> {
  const { rows } = await db.query<StoredProperty>(
    `select ${columns} from personal_data where account_id = $1 order by last_at desc, event, property limit 2000`,
    [accountId],
  );
  return rows.map((row) => ({ ...row, seen: Number(row.seen), matched: Number(row.matched) }));
}

export type FindingKey = { readonly event: string; readonly property: string };

export async function findPersonalData(
  db: Queryable,
  accountId: string,
  { event, property }: FindingKey,
): Promise<FoundProperty | undefined> {
  const { rows } = await db.query<FoundProperty>(
    `select ${columns} from personal_data where account_id = $1 and event = $2 and property = $3`,
    [accountId, event, property],
  );
  return rows[0];
}

/** Marks a property as not personal, or removes the mark if `by` is undefined. Returns whether the property exists. */
export async function dismissPersonalData(
  db: Queryable,
  accountId: string,
  { event, property }: FindingKey,
  by: { readonly id: string; readonly at: Date } | undefined,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update personal_data set dismissed_at = $4, dismissed_by = $5 where account_id = $1 and event = $2 and property = $3`,
    [accountId, event, property, by?.at ?? null, by?.id ?? null],
  );
  return rowCount === 1;
}

/**
 * Which properties a version protects: a rule of its tracking plan omits or redacts the property, or quarantines or
 * drops its events; or every enabled destination gets the property hashed, encrypted, redacted or not at all, also under
 * the names that mapping rows give it.
 */
export function compileCoverage(snapshot: Snapshot): (key: FindingKey) => boolean {
  const rules = snapshot.dataGovernanceRules
    .map((rule) => rule as unknown as JsonObject)
    .filter((rule) => rule['isEnabled'] !== false && rule['type'] === 'Forbidden' && rule['action'] !== 'Report');
  const byDestination = new Map<string, Map<string, TracedRow[]>>();
  for (const row of tracedReport(snapshot)) {
    const byEvent = byDestination.get(row.destinationId) ?? new Map<string, TracedRow[]>();
    byDestination.set(row.destinationId, byEvent);
    const rows = byEvent.get(row.event.toLowerCase()) ?? [];
    byEvent.set(row.event.toLowerCase(), rows);
    rows.push(row);
  }
  return ({ event, property }) => {
    const isRuled = rules.some(
      (rule) =>
        pathOf(String(rule['property'])) === property &&
        (typeof rule['eventName'] !== 'string' || rule['eventName'].toLowerCase() === event.toLowerCase()),
    );
    if (isRuled) return true;
    const own = /^event_properties\.(.+)$/.exec(property)?.[1];
    if (own === undefined || byDestination.size === 0) return false;
    return [...byDestination.values()].every((byEvent) =>
      isProtected(byEvent.get(event.toLowerCase()) ?? byEvent.get(everyEvent) ?? [], own),
    );
  };
}

/** Whether no row of an event sends a property in the clear. */
function isProtected(rows: readonly TracedRow[], property: string): boolean {
  const isOpen = ({ treatment }: TracedRow): boolean => treatment === 'plain' || treatment === 'reduced';
  if (rows.some((row) => isOpen(row) && row.reads !== undefined && isReadBy(row.reads, property))) return false;
  const named = rows.filter((row) => row.property === property);
  const deciding = named.length > 0 ? named : rows.filter((row) => row.property === '*');
  return deciding.length > 0 && !deciding.some((row) => isOpen(row) || row.isConditional);
}

const pathOf = (property: string): string => property.trim().replace(/^\$?(event\.)?/, '');

/** The proposal: Omit for properties that no analysis needs, Redact for the rest. */
export function proposedAction(kind: PersonalKind): 'Omit' | 'Redact' {
  return kind === 'card' || kind === 'secret' || kind === 'national_id' || kind === 'health' ? 'Omit' : 'Redact';
}

/** The hash that platforms expect for a kind of data if they match people by it. */
export function hashFor(kind: PersonalKind): string {
  switch (kind) {
    case 'email':
      return 'HashedNormalized';
    case 'phone':
      return 'HashedPhone';
    case 'birth_date':
      return 'HashedDateOfBirth';
    case 'ip':
    case 'card':
    case 'iban':
    case 'national_id':
    case 'name':
    case 'address':
    case 'health':
    case 'secret':
      return 'Hash';
  }
}
