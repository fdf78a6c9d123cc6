import { createHash } from 'node:crypto';
import type { ClientBase } from 'pg';
import type { EntityManager } from '@mikro-orm/postgresql';
import { findRoot } from '../../shared/visitors/find-visitor.ts';
import type { Queryable } from '../../shared/visitors/visitor-statements.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { AuditEntry } from '../../shared/postgres/entities.ts';
import type { AuditEntryRow } from '../../shared/postgres/entities.ts';
import type { Position } from '../api/pagination.ts';
import type { Principal } from '../api/define-endpoint.ts';

export type AuditedAction = {
  /** `destination.update`, `version.publish`: the noun and the action. */
  readonly action: string;
  readonly collection?: string;
  readonly entityId?: string;
  /** Names of fields, and counts; never a value that a client sent. */
  readonly details?: JsonObject;
};

/** Records an action and its principal, in the transaction of the action. */
export function recordAudit(em: EntityManager, principal: Principal, audited: AuditedAction, now: Date): void {
  em.persist(
    em.create(AuditEntry, {
      accountId: principal.accountId,
      at: now,
      actorId: principal.id,
      actorName: principal.name,
      actorKind: principal.kind,
      action: audited.action,
      collection: audited.collection ?? null,
      entityId: audited.entityId ?? null,
      details: audited.details ?? {},
    }),
  );
}

/** Records an action like `recordAudit`, but in a transaction on a separate connection, without the ORM. */
export async function insertAudit(
  client: ClientBase,
  principal: Principal,
  audited: AuditedAction,
  now: Date,
): Promise<void> {
  const { accountId, kind, id, name } = principal;
  const { action, collection = null, entityId = null, details = {} } = audited;
  await client.query(
    `insert into audit_entries (account_id, at, actor_kind, actor_id, actor_name, action, collection, entity_id, details)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [accountId, now, kind, id, name, action, collection, entityId, JSON.stringify(details)],
  );
}

type AuditFilters = {
  readonly action: string | undefined;
  readonly actorId: string | undefined;
  /** In ms since the epoch. */
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
  readonly collection: string | undefined;
  readonly entityId: string | undefined;
  /** Selects the entries of these visitors. Ids themselves are not stored, only their hashes. */
  readonly visitorIds: readonly string[] | undefined;
};

/** Up to `limit` entries of an account after a position, newest first. */
export async function listAudit(
  em: EntityManager,
  accountId: string,
  filters: AuditFilters,
  page: { readonly limit: number; readonly after: Position | undefined },
): Promise<AuditEntryRow[]> {
  const { visitorIds, fromMs, toMs, ...fields } = filters;
  const whom = visitorIds === undefined ? {} : { entityId: { $in: await keyedVisitors(em, visitorIds) } };
  const given = Object.fromEntries(Object.entries({ ...fields, ...whom }).filter(([, value]) => value !== undefined));
  const before = page.after === undefined ? {} : { id: { $lt: Number(page.after[0]) } };
  const since = fromMs === undefined ? {} : { $gte: new Date(fromMs) };
  const until = toMs === undefined ? {} : { $lt: new Date(toMs) };
  const at = { at: { ...since, ...until } };
  const during = fromMs === undefined && toMs === undefined ? {} : at;
  return em.find(
    AuditEntry,
    { accountId, ...given, ...before, ...during },
    { orderBy: { id: 'desc' }, limit: page.limit },
  );
}

/**
 * Hash of a visitor's id, for an audit entry. When the entry is stored, a trigger replaces the hash with a keyed hash,
 * so that a reader of the table cannot guess ids.
 */
export function hashedVisitor(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}

/** As `hashedVisitor`, for the visitor to whom an id leads; an id of no visitor is hashed itself. */
export async function hashedRoot(db: Queryable, accountId: string, id: string): Promise<string> {
  return hashedVisitor((await findRoot(db, accountId, { id }))?.id ?? id);
}

async function keyedVisitors(em: EntityManager, ids: readonly string[]): Promise<readonly string[]> {
  const rows = await em.execute<{ keyed: string }[]>(
    `select encode(erasure_hash_of(hashed), 'hex') as keyed from jsonb_array_elements_text(?::jsonb) hashed`,
    [JSON.stringify(ids.map(hashedVisitor))],
  );
  return rows.map(({ keyed }) => keyed);
}
