import type { EntityManager } from '@mikro-orm/postgresql';
import { sizeOfAccountConfig } from '../../shared/contracts/config/account-config.ts';
import type { AccountConfig } from '../../shared/contracts/config/account-config.ts';
import { OutboxRow } from '../../shared/postgres/entities.ts';
import { badRequest } from '../api/api-error.ts';
import { readAccountDocument } from './account-document.ts';

/** PostgreSQL channel that wakes the publisher. */
export const outboxChannel = 'sluice_outbox';

const keepMs = 86_400_000;

export type SizeCheck = {
  readonly documentBytesMax: number;
  /** Beginning of the error: what is too large. */
  readonly refusal: string;
  /** The changed configuration, if the caller has it. */
  readonly document?: AccountConfig;
};

/**
 * Records, in the caller's transaction, that the account's configuration has changed. Returns the row's id. Throws a
 * 400 if the configuration is now too large: the change would never take effect, nor would any later one. Without
 * `check`, no size is refused.
 */
export async function addToOutbox(
  em: EntityManager,
  accountId: string,
  now: Date,
  check: SizeCheck | undefined,
): Promise<number> {
  if (check !== undefined) await refuseTooLarge(em, accountId, check);
  const row = em.create(OutboxRow, { accountId, createdAt: now, pushedAt: null, revision: null });
  await em.persist(row).flush();
  await em.execute(`select pg_notify('${outboxChannel}', '')`);
  return row.id;
}

async function refuseTooLarge(
  em: EntityManager,
  accountId: string,
  { documentBytesMax, refusal, document: known }: SizeCheck,
): Promise<void> {
  // The document is read from the database.
  await em.flush();
  const document = known ?? (await readAccountDocument(em, accountId));
  const bytes = document === undefined ? 0 : sizeOfAccountConfig(document);
  if (bytes > documentBytesMax) throw badRequest(`${refusal}: ${bytes} bytes of at most ${documentBytesMax}`);
}

export type WaitingAccount = { readonly accountId: string; readonly upTo: number };

/**
 * Accounts with changes to publish, except the excluded ones, each with its newest row. The account that has waited
 * longest comes first; those in `last` come after all others, in that order.
 */
export async function waitingAccounts(
  em: EntityManager,
  accountsMax: number,
  { except, last }: { readonly except: readonly string[]; readonly last: readonly string[] },
): Promise<WaitingAccount[]> {
  const rows: { account_id: string; up_to: string }[] = await em.execute(
    `select account_id, max(id) as up_to from outbox
     where pushed_at is null and account_id not in (select value::uuid from jsonb_array_elements_text(?::jsonb))
     group by account_id order by coalesce((
       select place from jsonb_array_elements_text(?::jsonb) with ordinality as last (value, place)
       where value::uuid = account_id), 0), min(id) limit ?`,
    [JSON.stringify(except), JSON.stringify(last), accountsMax],
  );
  return rows.map((row) => ({ accountId: row.account_id, upTo: Number(row.up_to) }));
}

/** Number of rows that wait to be published. */
export async function countWaiting(em: EntityManager): Promise<number> {
  return em.count(OutboxRow, { pushedAt: null });
}

/** Marks the rows of an account up to `waiting.upTo` as published. */
export async function markPublished(
  em: EntityManager,
  waiting: WaitingAccount,
  revision: number | null,
  now: Date,
): Promise<void> {
  const rows = { accountId: waiting.accountId, id: { $lte: waiting.upTo }, pushedAt: null };
  await em.nativeUpdate(OutboxRow, rows, { pushedAt: now, revision });
}

/** The revision with which a row was published; undefined while the row waits. */
export async function publishedRevision(em: EntityManager, id: number): Promise<number | undefined> {
  const row = await em.findOne(OutboxRow, { id }, { refresh: true });
  return row?.pushedAt === null ? undefined : (row?.revision ?? 0);
}

/**
 * The revision of the account's newest change; undefined if the outbox has no row of the account, since old rows are
 * deleted; `waits` if it is not published yet.
 */
export async function newestPublished(
  em: EntityManager,
  accountId: string,
): Promise<{ readonly revision: number; readonly at: Date } | 'waits' | undefined> {
  const [row] = await em.find(OutboxRow, { accountId }, { orderBy: { id: 'desc' }, limit: 1, refresh: true });
  if (row === undefined) return undefined;
  return row.pushedAt === null || row.pushedAt === undefined
    ? 'waits'
    : { revision: row.revision ?? 0, at: row.pushedAt };
}

/** Deletes rows that were published long ago. */
export async function forgetOldRows(em: EntityManager, now: Date): Promise<void> {
  await em.nativeDelete(OutboxRow, { pushedAt: { $lt: new Date(now.getTime() - keepMs) } });
}
