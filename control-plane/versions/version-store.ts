import { raw } from '@mikro-orm/postgresql';
import type { EntityManager } from '@mikro-orm/postgresql';
import { uuidv7 } from 'uuidv7';
import type { CollectionName, Snapshot } from '../../shared/collections/registry.ts';
import { Account, Version } from '../../shared/postgres/entities.ts';
import type { VersionRow } from '../../shared/postgres/entities.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import type { Position } from '../api/pagination.ts';
import type { Principal } from '../api/define-endpoint.ts';
import { liveVersionId } from '../draft/live-version.ts';
import { buildSnapshot, emptySnapshot, withoutDraftExperiments } from '../draft/snapshot.ts';
import type { AccountLimits } from '../store/account-limits.ts';
import { containsFolded, foldText, isUuid } from '../store/text.ts';
import { conflict, found } from '../api/api-error.ts';
import { loadDraft } from '../draft/entity-store.ts';
import { maskSourceSecrets } from '../sources/source-secrets.ts';
import { recordPublication } from './publications.ts';
import { maskSettings } from '../draft/mask-settings.ts';

/** The version without its content; undefined if the account has none with this id. */
export async function findVersion(em: EntityManager, accountId: string, id: string): Promise<VersionRow | undefined> {
  if (!isUuid(id)) return undefined;
  return (await em.findOne(Version, { accountId, id })) ?? undefined;
}

/** The version with the previous number; undefined for the first version. */
export async function findPreviousVersion(em: EntityManager, row: VersionRow): Promise<VersionRow | undefined> {
  const { accountId, versionNumber } = row;
  const [previous] = await em.find(
    Version,
    { accountId, versionNumber: { $lt: versionNumber } },
    { orderBy: { versionNumber: 'desc' }, limit: 1 },
  );
  return previous;
}

/** The snapshot of a version. With `only`, just that collection; the others are empty. */
export async function versionContent(
  em: EntityManager,
  accountId: string,
  id: string,
  only?: CollectionName,
): Promise<Snapshot | undefined> {
  if (!isUuid(id)) return undefined;
  // Without the ORM, which would keep a second copy of a document that can be large.
  const wanted = only === undefined ? 'content' : `jsonb_build_object('${only}', content -> '${only}') as content`;
  const sql = `select ${wanted} from versions where account_id = ? and id = ?`;
  const [row] = await em.execute<{ content: Snapshot }[]>(sql, [accountId, id]);
  return row === undefined ? undefined : complete(row.content);
}

/** The live content of the account, or one collection of it; empty before the first publish. */
export async function liveContent(em: EntityManager, accountId: string, only?: CollectionName): Promise<Snapshot> {
  const id = await liveVersionId(em, accountId);
  return (id === undefined ? undefined : await versionContent(em, accountId, id, only)) ?? emptySnapshot;
}

export type NewVersion = {
  readonly name: string | undefined;
  readonly notes: string | null;
  readonly content: Snapshot;
};

/** Adds the next version. The caller holds the account's lock, so numbers have no gaps. */
export async function insertVersion(
  em: EntityManager,
  accountId: string,
  version: NewVersion,
  now: Date,
): Promise<VersionRow> {
  const [newest] = await em.find(
    Version,
    { accountId },
    { orderBy: { versionNumber: 'desc' }, limit: 1, fields: ['versionNumber'] },
  );
  const versionNumber = (newest?.versionNumber ?? 0) + 1;
  const row = {
    id: uuidv7(),
    accountId,
    versionNumber,
    createdAt: now,
    publishedAt: null,
    publishedByUserId: null,
    publishedByUserName: null,
    ...texts(version.name ?? `Version ${versionNumber}`, version.notes),
  };
  // Passed as text, so that the ORM does not compare the content value by value.
  await em.insert(Version, { ...row, content: raw('?::jsonb', [JSON.stringify(version.content)]) });
  return { ...row, content: version.content };
}

/** Throws a 409 that names the limit if the account has its maximum number or size of versions. */
export async function refuseAnother(
  em: EntityManager,
  accountId: string,
  { versionsMax, versionBytesMax }: AccountLimits,
): Promise<void> {
  // The stored size, which PostgreSQL reports without reading the content.
  const [stored] = await em.execute<{ versions: number; bytes: number }[]>(
    `select count(*)::int as versions, coalesce(sum(pg_column_size(content)), 0)::float8 as bytes
     from versions where account_id = ?`,
    [accountId],
  );
  if (stored !== undefined && stored.versions >= versionsMax) {
    throw conflict(`an account may have ${versionsMax} versions (ACCOUNT_VERSIONS_MAX): delete old ones first`);
  }
  if (stored !== undefined && stored.bytes >= versionBytesMax) {
    const limit = `${versionBytesMax} bytes (ACCOUNT_VERSION_BYTES_MAX)`;
    throw conflict(`the versions of an account may take ${limit}: delete old ones first`);
  }
}

/** The version. Throws a 404 if the account has none with this id. */
export function requireVersion(em: EntityManager, accountId: string, id: string): Promise<VersionRow> {
  return found(findVersion(em, accountId, id), 'version');
}

/**
 * Deletes a version. Throws a 404 if the account has none with this id. Throws a 409 for the live version, and for the
 * newest version, because the next version would reuse its number.
 */
export async function deleteVersion(em: EntityManager, accountId: string, id: string): Promise<VersionRow> {
  const row = await requireVersion(em, accountId, id);
  if ((await liveVersionId(em, accountId)) === row.id) throw conflict('the version is live: publish another one first');
  const newer = await em.count(Version, { accountId, versionNumber: { $gt: row.versionNumber } });
  if (newer === 0) throw conflict('the newest version cannot be deleted: its number would be reused');
  em.remove(row);
  return row;
}

/** Changes a version's name and notes; its content never changes. */
export function renameVersion(row: VersionRow, name: string, notes: string | null): void {
  Object.assign(row, texts(name, notes));
}

/** Makes the version the live one of the account. The caller holds the account's lock. */
export async function setLiveVersion(
  em: EntityManager,
  row: VersionRow,
  principal: Principal,
  now: Date,
): Promise<void> {
  // Only the first publication sets `publishedAt`; `publications` records every publication.
  if (row.publishedAt == null) {
    row.publishedAt = now;
    row.publishedByUserId = principal.id;
    row.publishedByUserName = principal.name;
  }
  await em.flush();
  await recordPublication(em, row, principal, now);
  await em.nativeUpdate(Account, { id: row.accountId }, { liveVersionId: row.id });
}

export type VersionFilters = {
  readonly liveId: string | undefined;
  readonly isPublished: boolean | undefined;
  readonly nameContains: string | undefined;
  readonly notesContains: string | undefined;
};

/** Up to `limit` versions after a position, newest first. */
export async function listVersions(
  em: EntityManager,
  accountId: string,
  filters: VersionFilters,
  page: { readonly limit: number; readonly after: Position | undefined },
): Promise<VersionRow[]> {
  const { liveId, isPublished, nameContains, notesContains } = filters;
  if (isPublished === true && liveId === undefined) return [];
  const id = isPublished === undefined || liveId === undefined ? {} : { id: isPublished ? liveId : { $ne: liveId } };
  return em.find(
    Version,
    {
      accountId,
      ...id,
      ...(nameContains === undefined ? {} : { nameFolded: { $like: containsFolded(nameContains) } }),
      ...(notesContains === undefined ? {} : { notesFolded: { $like: containsFolded(notesContains) } }),
      ...(page.after === undefined ? {} : { versionNumber: { $lt: Number(page.after[0]) } }),
    },
    { orderBy: { versionNumber: 'desc' }, limit: page.limit },
  );
}

function texts(name: string, notes: string | null): Pick<VersionRow, 'name' | 'nameFolded' | 'notes' | 'notesFolded'> {
  return { name, nameFolded: foldText(name), notes, notesFolded: foldText(notes ?? '') };
}

/** A version written by an older build lacks the collections that came later. */
function complete(content: Snapshot): Snapshot {
  return buildSnapshot((name) => content[name] ?? []);
}

/** The content of a version, or of the draft as a version would have it. Throws a 404 for an unknown version. */
export async function resolveSnapshot(em: EntityManager, accountId: string, id: string): Promise<Snapshot> {
  if (id === 'draft') return withoutDraftExperiments(await loadDraft(em, accountId));
  return found(versionContent(em, accountId, id), 'version');
}

/** `target`: the version or the draft with the id. `baseline`: the version `against`, by default the live version. */
export async function compareSnapshots(
  em: EntityManager,
  accountId: string,
  { id, against }: { readonly id: string; readonly against: string | undefined },
): Promise<{ readonly target: Snapshot; readonly baseline: Snapshot }> {
  const target = await resolveSnapshot(em, accountId, id);
  const baseline = await (against === undefined ? liveContent(em, accountId) : resolveSnapshot(em, accountId, against));
  return { target, baseline };
}

/** A snapshot as a client may read it. */
export function maskSnapshot(snapshot: Snapshot): Snapshot {
  const destinations = snapshot.destinations.map((destination) => {
    const settings = destination['settings'];
    return isJsonObject(settings) ? { ...destination, settings: maskSettings(settings) } : destination;
  });
  return { ...snapshot, destinations, sources: snapshot.sources.map(maskSourceSecrets) };
}
