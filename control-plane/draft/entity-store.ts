import type { EntityManager } from '@mikro-orm/postgresql';
import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import { collectionOf } from '../../shared/collections/registry.ts';
import type { CollectionName, Snapshot } from '../../shared/collections/registry.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { ConfigEntity } from '../../shared/postgres/entities.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities.ts';
import { found } from '../api/api-error.ts';
import type { Position } from '../api/pagination.ts';
import { canonical, containsFolded, foldText } from '../store/text.ts';
import { buildSnapshot } from './snapshot.ts';

const idShape = /^[A-Za-z0-9_-]{1,64}$/;

/** The entity; undefined if the account has no entity with this id. */
export async function findEntity(
  em: EntityManager,
  accountId: string,
  collection: CollectionName,
  id: string,
): Promise<ConfigEntityRow | undefined> {
  if (!idShape.test(id)) return undefined;
  return (await em.findOne(ConfigEntity, { accountId, collection, id })) ?? undefined;
}

/** The entity. Throws a 404 if the account has no entity with this id. */
export function requireEntity(
  em: EntityManager,
  accountId: string,
  collection: CollectionName,
  id: string,
): Promise<ConfigEntityRow> {
  return found(findEntity(em, accountId, collection, id), collectionOf(collection).noun);
}

/** The `ids` for which the account has no entity. */
export async function missingEntities(
  em: EntityManager,
  accountId: string,
  collection: CollectionName,
  ids: readonly string[],
): Promise<string[]> {
  const valid = ids.filter((id) => idShape.test(id));
  const rows = await em.find(ConfigEntity, { accountId, collection, id: { $in: valid } }, { fields: ['id'] });
  const found = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !found.has(id));
}

export type EntityFilters = {
  /** Fields of the body, each with the value that it must have. */
  readonly equals?: Readonly<Record<string, string | undefined>>;
  readonly nameContains?: string | undefined;
};

/** Up to `limit` entities after a position, newest first. */
export async function listEntities(
  em: EntityManager,
  accountId: string,
  collection: CollectionName,
  filters: EntityFilters,
  page: { readonly limit: number; readonly after: Position | undefined },
): Promise<ConfigEntityRow[]> {
  const query = em.createQueryBuilder(ConfigEntity).where({ accountId, collection });
  for (const [field, value] of Object.entries(filters.equals ?? {})) {
    if (value !== undefined) void query.andWhere('body ->> ? = ?', [field, value]);
  }
  if (filters.nameContains !== undefined) {
    void query.andWhere({ nameFolded: { $like: containsFolded(filters.nameContains) } });
  }
  if (page.after !== undefined) {
    const [createdAtMs, id] = page.after;
    void query.andWhere('(created_at, id) < (?, ?)', [new Date(Number(createdAtMs)), String(id)]);
  }
  return query.orderBy({ createdAt: 'desc', id: 'desc' }).limit(page.limit).getResultList();
}

/** Every entity of a collection, newest first: for uses that need all of them, such as versions. */
export function loadEntities(
  em: EntityManager,
  accountId: string,
  collection: CollectionName,
): Promise<ConfigEntityRow[]> {
  return em.find(ConfigEntity, { accountId, collection }, { orderBy: { createdAt: 'desc', id: 'desc' } });
}

/** The position of an entity in its list. */
export function entityPosition(row: ConfigEntityRow): Position {
  return [row.createdAt.getTime(), row.id];
}

/** Adds an entity that has never been updated; the next flush stores it. */
export function insertEntity(
  em: EntityManager,
  entity: Pick<ConfigEntityRow, 'accountId' | 'collection' | 'id' | 'body' | 'createdAt'>,
): ConfigEntityRow {
  const row = em.create(ConfigEntity, { ...entity, nameFolded: foldedName(entity.body), updatedAt: null });
  em.persist(row);
  return row;
}

/** Replaces the body of an entity, unless the new body is equal. Returns whether it changed. */
export function replaceBody(row: ConfigEntityRow, body: JsonObject, now: Date): boolean {
  if (canonical(row.body) === canonical(body)) return false;
  row.body = body;
  row.nameFolded = foldedName(body);
  row.updatedAt = now;
  return true;
}

type DraftRow = {
  readonly collection: string;
  readonly id: string;
  readonly body: JsonObject;
  readonly created_at: string | Date;
};

/**
 * The account's draft: every current entity. Changes of this unit of work are included once they are flushed. With
 * `only`, all other collections are empty.
 */
export async function loadDraft(em: EntityManager, accountId: string, only?: CollectionName): Promise<Snapshot> {
  // The ORM is not used, because a snapshot needs only the plain values of every row.
  const rows = await em.execute<DraftRow[]>(
    `select collection, id, body, created_at from entities
     where account_id = ? and (?::text is null or collection = ?) order by created_at, id`,
    [accountId, only ?? null, only ?? null],
  );
  const byCollection = new Map<string, SnapshotEntity[]>();
  for (const { collection, id, body, created_at: createdAt } of rows) {
    const entity = { ...body, id, createdAt: new Date(createdAt).toISOString() };
    const entities = byCollection.get(collection);
    if (entities === undefined) byCollection.set(collection, [entity]);
    else entities.push(entity);
  }
  return buildSnapshot((name) => byCollection.get(name) ?? []);
}

/** The stored fields of an entity of a version. */
export function fromSnapshotEntity(entity: SnapshotEntity): {
  readonly id: string;
  readonly createdAt: Date;
  readonly body: JsonObject;
} {
  const { id, createdAt, ...body } = entity;
  return { id, createdAt: new Date(String(createdAt)), body };
}

function foldedName(body: JsonObject): string {
  const name = body['name'];
  return typeof name === 'string' ? foldText(name) : '';
}
