import type { Pool, PoolClient } from 'pg';
import { inTransaction } from '../postgres/in-transaction.ts';
import { holdForErasure } from './erasure-lock.ts';
import { deleteOldErasures, insertErasures, moveErasures } from './erasures.ts';
import { findRoot } from './find-visitor.ts';
import { deleteMerges } from './merge-records.ts';
import { cleanText } from './visitor-identity.ts';
import type { Identifier, IdentityKind } from './visitor-identity.ts';
import { lockVisitors, signOut } from './visitor-statements.ts';
import type { Queryable } from './visitor-statements.ts';

export type ErasureRequest = {
  readonly accountId: string;
  /** Any id of the visitor. */
  readonly id: string;
  /** Whether later events that name one of its identifiers are dropped as well. */
  readonly isSuppressed?: boolean;
};

/** What an erasure removed; no ids when there was no such visitor. */
export type Erased = {
  /** The visitor's own id first, then its aliases. */
  readonly ids: readonly string[];
  readonly recentEventCount: number;
  /** Events received until then are dropped, in ms since the epoch. */
  readonly atMs: number;
};

export type EraseOptions = {
  /** Ms since the epoch, by the clock of whoever receives events. */
  now(): number;
  /** Keeps all who send events from sending those of these visitors that were received until then. */
  announce(erasure: AnnouncedErasure): Promise<void>;
  /** Is part of the transaction. */
  audit(client: PoolClient): Promise<void>;
  /** The visitor is erased, and the time ahead could not be replaced: what comes until then is dropped as well. */
  onLeftAhead(error: unknown): void;
};

export type AnnouncedErasure = {
  readonly ids: readonly string[];
  /** Ms since the epoch. */
  readonly atMs: number;
  /** The erasure is not done yet; it is announced again with its own time. */
  readonly isAhead: boolean;
};

/**
 * Tables, beside the visitors' own, whose rows belong to a visitor by `account_id` and `visitor_id`. Outcomes go with
 * their events. Whoever writes to one of them holds the lock of erasure-lock.ts.
 */
const visitorTables = ['recent_events', 'experiment_assignments', 'experiment_visitors'] as const;

/** Until the transaction is committed the erasure is recorded for so long ahead, in ms. */
const aheadMs = 60_000;
/** For so long nothing of a visitor can wait anywhere, in ms. */
const keptMs = 400 * 86_400_000;

/**
 * Erases the visitor an id or alias leads to: its properties, what identifies it, its recent events, its assignments to
 * experiments and its part in their results, all or nothing. What stays is a keyed hash of each of its identifiers, with
 * the time: events received until then are dropped wherever they are met, and a later one begins a new visitor.
 *
 * That time has to be one after the commit: until then a resolver may give an event to the visitor as it was. So the
 * erasure is recorded and announced for a time ahead first, which drops what comes meanwhile, and for the time of the
 * commit after it.
 */
export async function eraseVisitor(
  pool: Pool,
  { accountId, id, isSuppressed = false }: ErasureRequest,
  { now, announce, audit, onLeftAhead }: EraseOptions,
): Promise<Erased> {
  let aheadAtMs = 0;
  const erased = await inTransaction(pool, async (client) => {
    await holdForErasure(client, accountId);
    aheadAtMs = now() + aheadMs;
    const { cluster, identities } = await deleteVisitor(client, accountId, id);
    // Who only asked for an experiment's variant has an assignment, and is no visitor yet.
    const ids = cluster.length > 0 ? cluster : [id].filter((text) => cleanText(text) === text);
    const deleted = await deleteRows(client, accountId, ids);
    if (cluster.length + deleted.total === 0) return { ids: [], recentEventCount: 0, atMs: aheadAtMs };
    const erasure = { accountId, atMs: aheadAtMs, isSuppressed };
    const identifiers = [...ids.map((value) => ({ kind: 'visitor' as const, value })), ...identities];
    for (const some of chunks(identifiers)) await insertErasures(client, erasure, some);
    await deleteOldErasures(client, accountId, now() - keptMs);
    await audit(client);
    await announce({ ids, atMs: aheadAtMs, isAhead: true });
    return { ids, recentEventCount: deleted.recentEvents, atMs: aheadAtMs };
  });
  if (erased.ids.length === 0) return erased;
  try {
    const atMs = now();
    await moveErasures(pool, accountId, aheadAtMs, atMs);
    await announce({ ids: erased.ids, atMs, isAhead: false });
    return { ...erased, atMs };
  } catch (error) {
    onLeftAhead(error);
    return erased;
  }
}

type DeletedVisitor = { readonly cluster: readonly string[]; readonly identities: readonly Identifier[] };

async function deleteVisitor(db: Queryable, accountId: string, id: string): Promise<DeletedVisitor> {
  const cluster = await lockCluster(db, accountId, id);
  const identities: Identifier[] = [];
  for (const ids of chunks(cluster)) {
    const { rows } = await db.query<{ kind: IdentityKind; value: string }>(
      'delete from visitor_identities where account_id = $1 and visitor_id = any($2::text[]) returning kind, value',
      [accountId, ids],
    );
    identities.push(...rows);
    await deleteMerges(db, accountId, ids);
    await db.query('delete from visitors where account_id = $1 and id = any($2::text[])', [accountId, ids]);
    await signOut(db, accountId, ids);
  }
  return { cluster, identities };
}

const clusterTriesMax = 10;

/** Locks a visitor and all that were merged into it. Returns their ids, its own first; none where there is no visitor. */
async function lockCluster(db: Queryable, accountId: string, id: string): Promise<readonly string[]> {
  let locked: readonly string[] = [];
  for (let tries = 0; tries < clusterTriesMax; tries += 1) {
    const root = await findRoot(db, accountId, { id });
    const cluster = root === undefined ? [] : await clusterOf(db, accountId, root.id);
    // Others may have been merged into it, or it into another, while the lock was waited for.
    if (cluster.length === locked.length && cluster.every((one, index) => one === locked[index])) return cluster;
    for (const ids of chunks(cluster)) {
      await lockVisitors(
        db,
        ids.map((one) => ({ accountId, id: one })),
      );
    }
    locked = cluster;
  }
  throw new Error(`erasing a visitor: it was merged with another one ${clusterTriesMax} times meanwhile`);
}

/** A visitor's id, then those of all that were merged into it, and into these. */
async function clusterOf(db: Queryable, accountId: string, rootId: string): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(
    `with recursive cluster (id) as (
        select $2::text
        union
        select v.id from cluster c join visitors v on v.account_id = $1 and v.merged_into = c.id
      )
      select id from cluster where id <> $2 order by id`,
    [accountId, rootId],
  );
  return [rootId, ...rows.map((row) => row.id)];
}

async function deleteRows(
  db: Queryable,
  accountId: string,
  ids: readonly string[],
): Promise<{ readonly total: number; readonly recentEvents: number }> {
  let [total, recentEvents] = [0, 0];
  for (const some of chunks(ids)) {
    for (const table of visitorTables) {
      const { rowCount } = await db.query(
        `delete from ${table} where account_id = $1 and visitor_id = any($2::text[])`,
        [accountId, some],
      );
      total += rowCount ?? 0;
      if (table === 'recent_events') recentEvents += rowCount ?? 0;
    }
  }
  return { total, recentEvents };
}

/** A cluster may be of very many visitors: so many are the subject of one statement. */
const chunkSize = 1_000;

function chunks<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / chunkSize) }, (_, index) =>
    items.slice(index * chunkSize, (index + 1) * chunkSize),
  );
}
