import type { EntityManager } from '@mikro-orm/postgresql';
import type { Snapshot } from '../../shared/config/account-config.ts';
import { loadDraft } from '../draft/entity-store.ts';
import { notFound } from '../http/api-error.ts';
import { withoutDraftExperiments } from './snapshot.ts';
import { versionContent } from './version-store.ts';

/** The draft as a version would hold it, or a version's content. Throws a 404 for a version the account lacks. */
export async function resolveSnapshot(em: EntityManager, accountId: string, id: string): Promise<Snapshot> {
  if (id === 'draft') return withoutDraftExperiments(await loadDraft(em, accountId));
  const content = await versionContent(em, accountId, id);
  if (content === undefined) throw notFound('version');
  return content;
}
