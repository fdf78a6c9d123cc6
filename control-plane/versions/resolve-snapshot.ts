import type { EntityManager } from '@mikro-orm/postgresql';
import type { Snapshot } from '../../shared/collections/registry.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import { notFound } from '../api/api-error.ts';
import { loadDraft } from '../draft/entity-store.ts';
import { maskSettings } from '../draft/mask-settings.ts';
import { withoutDraftExperiments } from '../draft/snapshot.ts';
import { versionContent } from './version-store.ts';

/** The draft as a version would hold it, or a version's content. Throws a 404 for a version the account lacks. */
export async function resolveSnapshot(em: EntityManager, accountId: string, id: string): Promise<Snapshot> {
  if (id === 'draft') return withoutDraftExperiments(await loadDraft(em, accountId));
  const content = await versionContent(em, accountId, id);
  if (content === undefined) throw notFound('version');
  return content;
}

/** A snapshot as a client may read it. */
export function maskSnapshot(snapshot: Snapshot): Snapshot {
  const destinations = snapshot.destinations.map((destination) => {
    const settings = destination['settings'];
    return isJsonObject(settings) ? { ...destination, settings: maskSettings(settings) } : destination;
  });
  return { ...snapshot, destinations };
}
