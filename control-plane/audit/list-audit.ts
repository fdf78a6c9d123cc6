import type { EntityManager } from '@mikro-orm/postgresql';
import { AuditEntry } from '../../shared/storage/entities/audit-entry.ts';
import type { AuditEntryRow } from '../../shared/storage/entities/audit-entry.ts';
import type { Position } from '../http/pagination.ts';

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
