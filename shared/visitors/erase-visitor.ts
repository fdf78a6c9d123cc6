import type { Pool, PoolClient } from 'pg';
import { uuidv7 } from 'uuidv7';
import { inTransaction } from '../postgres/in-transaction.ts';
import { holdForErasure } from './erasure-lock.ts';
import { deletedProfile, personOf } from './erased-person.ts';
import type { DeletedProfile, DeletedVisitor, ErasedPerson } from './erased-person.ts';
import { insertErasureRecord, moveErasureRecord } from './erasure-records.ts';
import type { Actor, ErasureCounts } from './erasure-records.ts';
import { deleteOldErasures, erasuresKeptMs, insertErasures, moveErasures } from './erasures.ts';
import { findRoot } from './find-visitor.ts';
import { deleteMerges } from './merge-records.ts';
import { untilMemoriesKnow } from './trusted-memory.ts';
import { cleanText, unstoredVisitorId } from './visitor-identity.ts';
import type { Identifier, IdentityKind } from './visitor-identity.ts';
import { lockVisitors, signOut } from './visitor-statements.ts';
import type { Queryable } from './visitor-statements.ts';

export type ErasureRequest = {
  readonly accountId: string;
  /** Any id of the visitor. */
  readonly id: string;
  /** Whether later events with one of the visitor's identifiers are dropped as well. */
  readonly isSuppressed?: boolean;
  /** The API key that requests it. */
  readonly actor: Actor;
  /** The caller's reference for the request. */
  readonly reference?: string | undefined;
};

/** What an erasure removed; without ids if there was no visitor to erase. */
export type Erased = {
  readonly erasureId: string;
  /** The visitor's own id first, then its aliases. */
  readonly ids: readonly string[];
  /** The visitors' ids and other identifiers. */
  readonly identifiers: readonly Identifier[];
  readonly counts: ErasureCounts;
  /** Events received up to this time are dropped, in ms since the epoch. */
  readonly atMs: number;
};

export type EraseOptions = {
  /** Ms since the epoch, by the clock of the gateways. */
  now(): number;
  /**
   * Stops every sender from sending these visitors' events that were received up to `atMs`. An unfinished erasure is
   * announced within its transaction, whose connection is `db`.
   */
  announce(erasure: AnnouncedErasure, db: Queryable): Promise<void>;
  /** Runs within the transaction, with the visitor's own id. */
  audit(client: PoolClient, erasureId: string, id: string): Promise<void>;
  /** Stores the identifiers that destinations need to delete the person too. Runs within the transaction. */
  forward(client: PoolClient, erasure: ForwardedErasure): Promise<void>;
  /**
   * The visitor is erased, but the recorded time in the future could not be replaced: events received until that time
   * are dropped as well.
   */
  onLeftAhead(error: unknown): void;
};

export type ForwardedErasure = {
  readonly erasureId: string;
  readonly requestedAtMs: number;
  readonly person: ErasedPerson;
};

export type AnnouncedErasure = {
  /** The visitor's ids, and those in its test events. */
  readonly ids: readonly string[];
  /** The visitors' ids and other identifiers. */
  readonly identifiers: readonly Identifier[];
  /** Ms since the epoch. */
  readonly atMs: number;
  /** Whether the erasure is unfinished, and will be announced again with its final time. */
  readonly isAhead: boolean;
};

/**
 * Further tables with rows of a visitor, by `account_id` and `visitor_id`. Outcomes are deleted with their events.
 * Every writer to one of them holds the lock of erasure-lock.ts.
 */
const visitorTables = {
  recentEvents: 'recent_events',
  experimentAssignments: 'experiment_assignments',
  experimentVisitors: 'experiment_visitors',
} as const;

type DeletedRows = { readonly [Name in keyof typeof visitorTables]: number };

/** Until the erasure is finished, it is recorded with a time this far in the future, in ms. */
const aheadMs = 60_000;

/**
 * Erases the visitor that an id or alias leads to, all or nothing: its properties, identifiers, recent events,
 * assignments to experiments and rows in their results. A keyed hash of each identifier is kept, with the time: events
 * received until then are dropped everywhere, and a later event creates a new visitor.
 *
 * Until every resolver has read the commit, a resolver may still give an event to the old visitor from memory, so the
 * recorded time must be after that. The erasure is therefore first recorded and announced with a time in the future,
 * which drops all events in between, and then with the final time.
 */
export async function eraseVisitor(pool: Pool, request: ErasureRequest, options: EraseOptions): Promise<Erased> {
  const { accountId } = request;
  const { now, announce, onLeftAhead } = options;
  const { ofTestEvents, ...erased } = await inTransaction(pool, (client) => eraseAhead(client, request, options));
  if (erased.ids.length === 0) return erased;
  const { erasureId, identifiers } = erased;
  const ids = [...erased.ids, ...ofTestEvents];
  try {
    await untilMemoriesKnow();
    const atMs = await latestTime(pool, now);
    await moveErasures(pool, accountId, erased.atMs, atMs);
    await moveErasureRecord(pool, erasureId, atMs);
    await announce({ ids, identifiers, atMs, isAhead: false }, pool);
    return { ...erased, atMs };
  } catch (error) {
    onLeftAhead(error);
    return erased;
  }
}

/**
 * Erases a visitor with a time in the future, in a transaction that holds the lock of its account. `ofTestEvents`: ids
 * in test events that were sent before the visitor had their identifier.
 */
async function eraseAhead(
  client: PoolClient,
  { accountId, id, isSuppressed = false, actor, reference }: ErasureRequest,
  { now, announce, audit, forward }: EraseOptions,
): Promise<Erased & { readonly ofTestEvents: readonly string[] }> {
  await holdForErasure(client, accountId);
  const requestedAtMs = await latestTime(client, now);
  const atMs = requestedAtMs + aheadMs;
  const erasureId = uuidv7();
  const { cluster, identities, profiles } = await deleteVisitor(client, accountId, id);
  // An id that only requested the variant of an experiment has an assignment, but no visitor yet.
  const ids = cluster.length > 0 ? cluster : [id].filter((text) => cleanText(text) === text);
  const ofTestEvents = identities.map((identity) => unstoredId(accountId, identity));
  const assigned = await assignedIds(client, accountId, identities);
  const deleted = await deleteRows(client, accountId, ids, { assigned, ofTestEvents });
  const identifiers = [...ids.map((value) => ({ kind: 'visitor' as const, value })), ...identities];
  const counts = { visitors: cluster.length, identifiers: identifiers.length, ...deleted };
  if (cluster.length + deleted.recentEvents + deleted.experimentAssignments + deleted.experimentVisitors === 0) {
    return { erasureId, ids: [], identifiers: [], counts, atMs, ofTestEvents };
  }
  const suppression = isSuppressed ? { sinceMs: requestedAtMs, erasureId, reference } : undefined;
  for (const some of chunks(identifiers)) await insertErasures(client, { accountId, atMs, suppression }, some);
  await deleteOldErasures(client, accountId, requestedAtMs - erasuresKeptMs);
  const record = { id: erasureId, requestedAtMs, erasedAtMs: atMs, actor, reference, isSuppressed, counts };
  await insertErasureRecord(client, accountId, record);
  const person = await personOf(client, accountId, { cluster, identities, profiles });
  if (person !== undefined) await forward(client, { erasureId, requestedAtMs, person });
  await audit(client, erasureId, ids[0] ?? id);
  await announce({ ids: [...ids, ...ofTestEvents], identifiers, atMs, isAhead: true }, client);
  return { erasureId, ids, identifiers, counts, atMs, ofTestEvents };
}

/** The visitor id in a test event that named only this identifier while no visitor had it. */
function unstoredId(accountId: string, { kind, value }: Identifier): string {
  const named = kind === 'email' ? { externalIds: [], emails: [value] } : { externalIds: [value], emails: [] };
  return unstoredVisitorId(accountId, { userId: undefined, anonymousId: undefined, ...named });
}

/** A database clock that is further ahead than this counts as wrong, in ms. */
const databaseAheadMaxMs = 24 * 3_600_000;

/**
 * The later of this service's and the database's time, in ms since the epoch. So events received before a service's
 * clock was set back are erased as well.
 */
async function latestTime(db: Queryable, now: () => number): Promise<number> {
  const { rows } = await db.query<{ ms: string }>(
    'select floor(extract(epoch from clock_timestamp()) * 1000)::int8 as ms',
  );
  const [ownMs, databaseMs] = [now(), Number(rows[0]?.ms)];
  return databaseMs > ownMs && databaseMs - ownMs <= databaseAheadMaxMs ? databaseMs : ownMs;
}

async function deleteVisitor(db: Queryable, accountId: string, id: string): Promise<DeletedVisitor> {
  const cluster = await lockCluster(db, accountId, id);
  const identities: Identifier[] = [];
  const profiles: DeletedProfile[] = [];
  for (const ids of chunks(cluster)) {
    const { rows } = await db.query<{ kind: IdentityKind; value: string }>(
      'delete from visitor_identities where account_id = $1 and visitor_id = any($2::text[]) returning kind, value',
      [accountId, ids],
    );
    identities.push(...rows);
    await deleteMerges(db, accountId, ids);
    const deleted = await db.query<DeletedProfile>(
      `delete from visitors where account_id = $1 and id = any($2::text[]) returning ${deletedProfile}`,
      [accountId, ids],
    );
    profiles.push(...deleted.rows);
    await signOut(db, accountId, ids);
  }
  return { cluster, identities, profiles };
}

const clusterTriesMax = 10;

/**
 * Locks a visitor and all visitors merged into it. Returns their ids, the visitor's own first; empty if there is no
 * visitor.
 */
async function lockCluster(db: Queryable, accountId: string, id: string): Promise<readonly string[]> {
  let locked: readonly string[] = [];
  for (let tries = 0; tries < clusterTriesMax; tries += 1) {
    const root = await findRoot(db, accountId, { id });
    const cluster = root === undefined ? [] : await clusterOf(db, accountId, root.id);
    // While this waited for the lock, other visitors may have been merged into the visitor, or the visitor into
    // another.
    if (cluster.length === locked.length && cluster.every((one, index) => one === locked[index])) return cluster;
    for (const ids of chunks(cluster)) {
      await lockVisitors(
        db,
        ids.map((one) => ({ accountId, id: one })),
      );
    }
    locked = cluster;
  }
  throw new Error(`erasing a visitor: it was merged ${clusterTriesMax} times before it could be locked`);
}

/** The id of a visitor, then the ids of all visitors in its tree of merges. */
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

/**
 * The externalIds that are no other visitor's id. Clients may ask for the variant of an externalId before a visitor has
 * it, and the assignment is then stored under it.
 */
async function assignedIds(
  db: Queryable,
  accountId: string,
  identities: readonly Identifier[],
): Promise<readonly string[]> {
  const externalIds = identities.filter(({ kind }) => kind === 'external_id').map(({ value }) => value);
  const { rows } = await db.query<{ id: string }>('select id from visitors where account_id = $1 and id = any($2)', [
    accountId,
    externalIds,
  ]);
  const ofOthers = new Set(rows.map(({ id }) => id));
  return externalIds.filter((id) => !ofOthers.has(id));
}

/** Further ids of a visitor: under which assignments may be stored, and that its test events may have. */
type OtherIds = { readonly assigned: readonly string[]; readonly ofTestEvents: readonly string[] };

async function deleteRows(
  db: Queryable,
  accountId: string,
  ids: readonly string[],
  { assigned, ofTestEvents }: OtherIds,
): Promise<DeletedRows> {
  const deleteFrom = async (table: string, of = ids): Promise<number> => {
    let count = 0;
    for (const some of chunks(of)) {
      const { rowCount } = await db.query(
        `delete from ${table} where account_id = $1 and visitor_id = any($2::text[])`,
        [accountId, some],
      );
      count += rowCount ?? 0;
    }
    return count;
  };
  return {
    recentEvents: await deleteFrom(visitorTables.recentEvents, [...ids, ...ofTestEvents]),
    experimentAssignments: await deleteFrom(visitorTables.experimentAssignments, [...ids, ...assigned]),
    experimentVisitors: await deleteFrom(visitorTables.experimentVisitors),
  };
}

/** Maximum number of visitors per statement; a cluster may have far more. */
const chunkSize = 1_000;

function chunks<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / chunkSize) }, (_, index) =>
    items.slice(index * chunkSize, (index + 1) * chunkSize),
  );
}
