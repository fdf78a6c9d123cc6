import type { ConfigEntityRow } from '../../shared/postgres/entities.ts';
import { notFound } from '../api/api-error.ts';
import type { CoreServices, Principal } from '../api/define-endpoint.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { findEntity } from '../draft/entity-store.ts';
import type { SourceTokens } from './create-source.ts';
import { readSourceTokens } from './create-source.ts';

/**
 * A source with its keys in the clear. Records an audit entry first: without the entry, keys are not shown. Throws a
 * 404.
 */
export async function revealTokens(
  { storage, secretBox, now }: CoreServices,
  principal: Principal,
  id: string,
): Promise<{ readonly row: ConfigEntityRow; readonly tokens: SourceTokens }> {
  const em = storage.fork();
  const row = await findEntity(em, principal.accountId, 'sources', id);
  const tokens = row === undefined ? undefined : await readSourceTokens(em, secretBox, row);
  if (row === undefined || tokens === undefined) throw notFound('source');
  recordAudit(em, principal, { action: 'source.read-tokens', collection: 'sources', entityId: row.id }, now());
  await em.flush();
  return { row, tokens };
}
