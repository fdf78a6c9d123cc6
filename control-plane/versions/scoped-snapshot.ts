import { collections } from '../../shared/collections/registry.ts';
import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import type { CollectionName, Snapshot } from '../../shared/collections/registry.ts';
import { buildSnapshot, indexById, withoutDraftExperiments } from '../draft/snapshot.ts';

export type AllowlistName = `include${Capitalize<CollectionName>}`;

/** The allowlists of version create, and the collection each one limits. */
export const allowlistCollections = Object.fromEntries(
  collections
    .filter(({ allowlisted }) => allowlisted)
    .map(({ name }) => [`include${name.slice(0, 1).toUpperCase()}${name.slice(1)}`, name]),
) as Readonly<Record<AllowlistName, CollectionName>>;

export type Allowlists = { readonly [Name in AllowlistName]?: readonly string[] | null };

const onlyOnRequest: ReadonlySet<CollectionName> = new Set([
  'tagManagerTags',
  'tagManagerTriggers',
  'tagManagerVariables',
]);

/**
 * The snapshot of a new version: the draft, except that a collection with a non-empty allowlist takes only the changes
 * of those ids and otherwise stays as published. Tag-manager tags, triggers and variables stay as published unless
 * they are listed. Draft experiments stay out. Pure.
 */
export function composeSnapshot(published: Snapshot, draft: Snapshot, allowlists: Allowlists): Snapshot {
  const wanted = new Map<CollectionName, ReadonlySet<string>>();
  for (const name of Object.keys(allowlistCollections) as AllowlistName[]) {
    const ids = allowlists[name];
    if (ids !== undefined && ids !== null && ids.length > 0) wanted.set(allowlistCollections[name], new Set(ids));
  }
  const publishable = withoutDraftExperiments(draft);
  return buildSnapshot((collection) => {
    const ids = wanted.get(collection);
    if (ids !== undefined) return takeChangesOf(ids, published[collection], publishable[collection]);
    return onlyOnRequest.has(collection) ? published[collection] : publishable[collection];
  });
}

function takeChangesOf(
  ids: ReadonlySet<string>,
  published: readonly SnapshotEntity[],
  draft: readonly SnapshotEntity[],
): SnapshotEntity[] {
  const publishedById = indexById(published);
  const draftById = indexById(draft);
  const kept = published.flatMap((entity) => (ids.has(entity.id) ? (draftById.get(entity.id) ?? []) : entity));
  const added = draft.filter(({ id }) => ids.has(id) && !publishedById.has(id));
  return [...kept, ...added];
}
