import type { VersionRow } from '../../shared/postgres/entities.ts';
import type { Snapshot } from '../../shared/collections/registry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { liveVersionId } from '../draft/live-version.ts';
import { emptySnapshot } from '../draft/snapshot.ts';
import { buildAccountDocument } from '../publishing/account-document.ts';
import { addToOutbox } from '../publishing/outbox.ts';
import { takeApproval } from './approvals.ts';
import { refuseManyExpressions } from './count-expressions.ts';
import { requireVersion, setLiveVersion, versionContent } from './version-store.ts';

export type Publishing = {
  readonly version: VersionRow;
  /** The outbox row to wait for; undefined when the version was live already. */
  readonly outboxId: number | undefined;
};

/**
 * Makes a version live, also an older one. All changes are in the caller's transaction: after a crash either the
 * previous version is live, or the outbox has a row. Every publication uses this function. Throws a 400 for a version
 * that is too large or has too many regular expressions, and a 409 if the account requires an approval and the version has none. `known`: the
 * content of the version, if the caller has it.
 */
export async function publishVersion(
  editing: Editing,
  id: string,
  documentBytesMax: number,
  known?: Snapshot,
): Promise<Publishing> {
  const { em, principal, now } = editing;
  const { accountId } = principal;
  const version = await requireVersion(em, accountId, id);
  if ((await liveVersionId(em, accountId)) === id.toLowerCase()) return { version, outboxId: undefined };
  await takeApproval(editing, version);
  const content = known ?? (await versionContent(em, accountId, id)) ?? emptySnapshot;
  refuseManyExpressions(content);
  await setLiveVersion(em, version, principal, now);
  const { versionNumber } = version;
  const published = { accountId, versionId: version.id, versionNumber, publishedAt: now.toISOString() };
  const document = await buildAccountDocument(em, published, content);
  recordAudit(em, principal, { action: 'version.publish', entityId: version.id, details: { versionNumber } }, now);
  const check = { documentBytesMax, refusal: 'the version is too large to publish', document };
  return { version, outboxId: await addToOutbox(em, accountId, now, check) };
}
