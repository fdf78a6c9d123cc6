import type { EntityManager } from '@mikro-orm/postgresql';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { AuditEntry } from '../../shared/postgres/entities.ts';
import type { AuditEntryRow } from '../../shared/postgres/entities.ts';
import type { Position } from '../api/pagination.ts';
import type { Principal } from '../api/define-endpoint.ts';

export type AuditedAction = {
  /** `destination.update`, `version.publish`: the noun and what was done to it. */
  readonly action: string;
  readonly collection?: string;
  readonly entityId?: string;
  /** Names of fields and counts; never a value a client sent. */
  readonly details?: JsonObject;
};

/** Notes who did what, in the transaction that does it. */
export function recordAudit(em: EntityManager, principal: Principal, audited: AuditedAction, now: Date): void {
  em.persist(
    em.create(AuditEntry, {
      accountId: principal.accountId,
      at: now,
      actorId: principal.keyId,
      actorName: principal.keyName,
      action: audited.action,
      collection: audited.collection ?? null,
      entityId: audited.entityId ?? null,
      details: audited.details ?? {},
    }),
  );
}

type AuditFilters = {
  readonly action: string | undefined;
  readonly collection: string | undefined;
  readonly entityId: string | undefined;
};

/** Up to `limit` entries of an account, newest first, those after a position. */
export async function listAudit(
  em: EntityManager,
  accountId: string,
  filters: AuditFilters,
  page: { readonly limit: number; readonly after: Position | undefined },
): Promise<AuditEntryRow[]> {
  const given = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
  const before = page.after === undefined ? {} : { id: { $lt: Number(page.after[0]) } };
  return em.find(AuditEntry, { accountId, ...given, ...before }, { orderBy: { id: 'desc' }, limit: page.limit });
}
