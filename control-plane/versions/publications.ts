import { Type } from 'typebox';
import type { EntityManager } from '@mikro-orm/postgresql';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import type { VersionRow } from '../../shared/postgres/entities.ts';
import type { Principal } from '../api/define-endpoint.ts';
import type { Position } from '../api/pagination.ts';

/** Maximum number of publications kept for an account. */
const keptMax = 10_000;

/** Records that the version is live from now on. The caller holds the account's lock. */
export async function recordPublication(
  em: EntityManager,
  { id, accountId, versionNumber, name }: VersionRow,
  { id: actorId, name: actorName }: Principal,
  now: Date,
): Promise<void> {
  // During a rolling upgrade the previous build publishes too; it only sets `published_at`, at each publication.
  await em.execute(
    `insert into publications (account_id, version_id, version_number, version_name, published_at, actor_id, actor_name)
     select account_id, id, version_number, name, published_at,
       coalesce(published_by_user_id, ''), coalesce(published_by_user_name, '')
     from versions where account_id = ? and published_at < ? and published_at >
       (select coalesce(max(published_at), '-infinity') from publications where account_id = ?)
     order by published_at, version_number`,
    [accountId, now, accountId],
  );
  await em.execute(
    `update publications p set ended_at = coalesce(
       (select min(later.published_at) from publications later where later.account_id = ? and later.id > p.id), ?)
     where p.account_id = ? and p.ended_at is null`,
    [accountId, now, accountId],
  );
  await em.execute(
    `insert into publications (account_id, version_id, version_number, version_name, published_at, actor_id, actor_name)
     values (?, ?, ?, ?, ?, ?, ?)`,
    [accountId, id, versionNumber, name, now, actorId, actorName],
  );
  await em.execute(
    `delete from publications where account_id = ? and id <=
       (select id from publications where account_id = ? order by id desc offset ? limit 1)`,
    [accountId, accountId, keptMax],
  );
}

const instant = Type.String({ format: 'date-time' });

/** One time during which a version was live. */
export const publicationReply = Type.Object({
  versionId: Type.String({ format: 'uuid' }),
  versionNumber: Type.Integer({ minimum: 1 }),
  versionName: Type.String({ description: 'The name that the version had when it was published.' }),
  notes: nullable(Type.String({ description: 'Null if there are none, or the version was deleted.' })),
  isDeleted: Type.Boolean({ description: 'Whether the version was deleted since.' }),
  publishedAt: instant,
  endedAt: nullable({ ...instant, description: 'When another version went live; null: it is live now.' }),
  publishedById: Type.String({ description: 'Id of the API key or user.' }),
  publishedByName: Type.String(),
});

type PublicationRow = {
  readonly id: string;
  readonly versionId: string;
  readonly versionNumber: number;
  readonly versionName: string;
  readonly notes: string | null;
  readonly isDeleted: boolean;
  readonly publishedAt: string | Date;
  readonly endedAt: string | Date | null;
  readonly publishedById: string;
  readonly publishedByName: string;
};

/** Up to `limit` publications of an account after a position, newest first. */
export function listPublications(
  em: EntityManager,
  accountId: string,
  page: { readonly limit: number; readonly after: Position | undefined },
): Promise<PublicationRow[]> {
  return em.execute<PublicationRow[]>(
    `select p.id, p.version_id as "versionId", p.version_number as "versionNumber", p.version_name as "versionName",
       v.notes, v.id is null as "isDeleted", p.published_at as "publishedAt", p.ended_at as "endedAt",
       p.actor_id as "publishedById", p.actor_name as "publishedByName"
     from publications p left join versions v on v.account_id = p.account_id and v.id = p.version_id
     where p.account_id = ? and p.id < ? order by p.id desc limit ?`,
    [accountId, page.after?.[0] ?? Number.MAX_SAFE_INTEGER, page.limit],
  );
}

export function viewPublication({ id: _id, publishedAt, endedAt, ...rest }: PublicationRow): Record<string, unknown> {
  return {
    ...rest,
    publishedAt: new Date(publishedAt).toISOString(),
    endedAt: endedAt === null ? null : new Date(endedAt).toISOString(),
  };
}
