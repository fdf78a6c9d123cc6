import type { VersionRow } from '../../shared/postgres/entities/version.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { loadDraft } from '../draft/entity-store.ts';
import { refuseIncomplete } from '../destinations/incomplete.ts';
import { conflict } from '../api/api-error.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import { diffSnapshots } from './diff.ts';
import { composeSnapshot } from './scoped-snapshot.ts';
import type { Allowlists } from './scoped-snapshot.ts';
import { insertVersion, liveContent } from './version-store.ts';

export type VersionRequest = Allowlists & { readonly name?: string | null; readonly notes?: string | null };

/**
 * Takes a snapshot of the draft, or of the part of it the allowlists name. Throws a 400 where a destination in it cannot
 * be published, and a 409 where it is `toPublish` and would change nothing.
 */
export async function createVersion(
  { em, principal, now }: Editing,
  request: VersionRequest,
  { secretBox, toPublish }: { readonly secretBox: SecretBox; readonly toPublish: boolean },
): Promise<VersionRow> {
  const { accountId } = principal;
  const live = await liveContent(em, accountId);
  const content = composeSnapshot(live, await loadDraft(em, accountId), request);
  if (toPublish && diffSnapshots(live, content).count === 0) {
    throw conflict('there is nothing to publish: the version would not differ from what is live');
  }
  refuseIncomplete(content, live, accountId, secretBox);
  const { name, notes } = request;
  const row = await insertVersion(em, accountId, { name: name ?? undefined, notes: notes ?? null, content }, now);
  const details = { versionNumber: row.versionNumber };
  recordAudit(em, principal, { action: 'version.create', entityId: row.id, details }, now);
  return row;
}
