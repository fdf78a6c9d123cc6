import type { Pool, PoolClient } from 'pg';
import { inTransaction } from '../postgres/in-transaction.ts';
import { holdForWriting } from './erasure-lock.ts';
import { findRoot } from './find-visitor.ts';
import { insertMerges } from './merge-records.ts';
import type { MergeCause, StoredVisitor, VisitorWrite } from './visitor-rows.ts';
import { untilMemoriesKnow } from './trusted-memory.ts';
import type { VisitorProperties } from './visitor-properties.ts';
import { lockVisitors, updateVisitors } from './visitor-statements.ts';
import type { Queryable } from './visitor-statements.ts';
import { becomeOne, identifiersMax, identifiersOfVisitor, mergeOf, stateOf, workingOf } from './working-visitor.ts';
import type { Working } from './working-visitor.ts';

export type JoinRequest = {
  readonly accountId: string;
  /** Any ids of the two visitors. */
  readonly ids: readonly [string, string];
  readonly cause: MergeCause;
  /** Size limit of a merged visitor whose parts were smaller, in bytes of JSON. */
  readonly propertiesBytesMax: number;
};

export type Joined =
  | {
      readonly kind: 'merged';
      readonly survivor: string;
      readonly loser: string;
      readonly mergeId: string;
      /** The properties of the survivor after the merge. */
      readonly properties: VisitorProperties;
    }
  /** No visitor has the id at this index of `ids`. */
  | { readonly kind: 'missing'; readonly at: 0 | 1 }
  | { readonly kind: 'same' | 'tooLarge' | 'full' };

/**
 * Merges two visitors, known people included: the older one survives. `audit` gets both ids and runs within the
 * transaction.
 */
export async function joinVisitors(
  pool: Pool,
  { accountId, ids, cause, propertiesBytesMax }: JoinRequest,
  audit: (client: PoolClient, ids: readonly string[]) => Promise<void>,
): Promise<Joined> {
  const joined = await inTransaction<Joined>(pool, async (client) => {
    // Erasures and splits wait for this transaction.
    await holdForWriting(client, [accountId]);
    const [a, b] = await lockRoots(client, accountId, ids);
    if (a === undefined) return { kind: 'missing', at: 0 };
    if (b === undefined) return { kind: 'missing', at: 1 };
    if (a.id === b.id) return { kind: 'same' };
    if (a.isUnreadable === true || b.isUnreadable === true) return { kind: 'tooLarge' };
    const { survivor, loser, properties } = mergeOf(workingOf(a, undefined), workingOf(b, undefined));
    if (identifiersOfVisitor(survivor) + identifiersOfVisitor(loser) >= identifiersMax) return { kind: 'full' };
    if (properties.bytes > Math.max(propertiesBytesMax, a.properties.bytes, b.properties.bytes))
      return { kind: 'tooLarge' };
    const record = {
      cause,
      survivor: stateOf(survivor),
      loser: stateOf(loser),
      loserIdentities: [],
      mergedProperties: properties,
    };
    const [mergeId] = await insertMerges(client, [{ accountId, from: loser.id, into: survivor.id, record }]);
    survivor.properties = properties;
    becomeOne(survivor, loser);
    const written = await updateVisitors(client, [asWrite(accountId, survivor), asWrite(accountId, loser)]);
    if (mergeId === undefined || written.length !== 2) throw new Error('merging visitors: a locked row was changed');
    await audit(client, [survivor.id, loser.id]);
    return { kind: 'merged', survivor: survivor.id, loser: loser.id, mergeId, properties };
  });
  if (joined.kind === 'merged') await untilMemoriesKnow();
  return joined;
}

function asWrite(accountId: string, working: Working): VisitorWrite {
  const { mergedInto, isSeen: _seen, changed: _changed, writtenAt: _writtenAt, ...row } = working;
  return { accountId, ...row, mergedInto: mergedInto?.id };
}

const triesMax = 10;

/** The visitors that two ids lead to, locked until the transaction ends. */
async function lockRoots(
  db: Queryable,
  accountId: string,
  ids: readonly [string, string],
): Promise<readonly [StoredVisitor | undefined, StoredVisitor | undefined]> {
  let locked = '';
  for (let tries = 0; tries < triesMax; tries += 1) {
    const [one, other] = ids;
    const roots = [await findRoot(db, accountId, { id: one }), await findRoot(db, accountId, { id: other })] as const;
    const found = roots.filter((row) => row !== undefined);
    const now = JSON.stringify(found.map(({ id, version }) => [id, version]));
    if (now === locked) return roots;
    // During the wait for the lock a resolver may have written one of the visitors.
    await lockVisitors(db, found);
    locked = now;
  }
  throw new Error(`merging visitors: they changed ${triesMax} times before they could be locked`);
}
