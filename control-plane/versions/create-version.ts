import type { VersionRow } from '../../shared/postgres/entities.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { loadDraft } from '../draft/entity-store.ts';
import { refuseTwins } from '../draft/refuse-twins.ts';
import { refuseIncomplete } from '../destinations/incomplete.ts';
import { conflict } from '../api/api-error.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import { diffSnapshots } from './diff.ts';
import { refuseBrokenTags } from './refuse-broken-tags.ts';
import { insertVersion, liveContent, refuseAnother } from './version-store.ts';
import { collections } from '../../shared/collections/registry.ts';
import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import type { CollectionName, Snapshot } from '../../shared/collections/registry.ts';
import { buildSnapshot, indexById, withoutDraftExperiments } from '../draft/snapshot.ts';

export type VersionRequest = Allowlists & { readonly name?: string | null; readonly notes?: string | null };

/**
 * Creates a version from the draft, or from the entities in the allowlists. Throws a 400 if one of its destinations
 * cannot be published. Throws a 409 if the account has reached its quota of versions, if the version would have two
 * entities with one unique name, or if `toPublish` is set and the version would change nothing.
 */
export async function createVersion(
  { em, principal, now, limits }: Editing,
  request: VersionRequest,
  { secretBox, toPublish }: { readonly secretBox: SecretBox; readonly toPublish: boolean },
): Promise<VersionRow> {
  const { accountId } = principal;
  const live = await liveContent(em, accountId);
  const content = composeSnapshot(live, await loadDraft(em, accountId), request);
  if (toPublish && diffSnapshots(live, content).count === 0) {
    throw conflict('there is nothing to publish: the version would not differ from the live one');
  }
  refuseTwins(live, content);
  refuseIncomplete(content, live, accountId, secretBox);
  refuseBrokenTags(content, live);
  const { name, notes } = request;
  await refuseAnother(em, accountId, limits);
  const row = await insertVersion(em, accountId, { name: name ?? undefined, notes: notes ?? null, content }, now);
  const details = { versionNumber: row.versionNumber };
  recordAudit(em, principal, { action: 'version.create', entityId: row.id, details }, now);
  return row;
}

export type AllowlistName = `include${Capitalize<CollectionName>}`;

/**
 * The allowlists of a new version, with the collection that each limits. Each endpoint decides which allowlists it
 * offers.
 */
export const allowlistCollections = Object.fromEntries(
  collections.map(({ name }) => [`include${name.slice(0, 1).toUpperCase()}${name.slice(1)}`, name]),
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
