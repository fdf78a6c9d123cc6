import type { VersionRow } from '../../shared/storage/entities/version.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { loadDraft } from '../draft/entity-store.ts';
import { composeSnapshot } from './scoped-snapshot.ts';
import type { Allowlists } from './scoped-snapshot.ts';
import { insertVersion, liveContent } from './version-store.ts';

export type VersionRequest = Allowlists & { readonly name?: string | null; readonly notes?: string | null };

/** Takes a snapshot of the draft, or of the part of it the allowlists name. */
export async function createVersion({ em, actor, now }: Editing, request: VersionRequest): Promise<VersionRow> {
  const { accountId } = actor;
  const content = composeSnapshot(await liveContent(em, accountId), await loadDraft(em, accountId), request);
  const { name, notes } = request;
  const row = await insertVersion(em, accountId, { name: name ?? undefined, notes: notes ?? null, content }, now);
  const details = { versionNumber: row.versionNumber };
  recordAudit(em, actor, { action: 'version.create', entityId: row.id, details }, now);
  return row;
}
