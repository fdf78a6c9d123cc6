import type { Pool } from 'pg';
import type { ErasureNotice } from '../../shared/contracts/erasure-notice.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { noticesOfErasure } from '../../shared/nats/erasures/announce-erasure.ts';
import type { ErasureNotices } from '../../shared/nats/erasures/announce-erasure.ts';
import { inTransaction } from '../../shared/postgres/in-transaction.ts';
import type { Queryable } from '../../shared/visitors/visitor-statements.ts';

/** A year, as in the log: no event stays there for longer. */
const keptMs = 365 * 86_400_000;
const noticesPerPage = 500;

/** Keeps the notices of an erasure; a later time replaces the earlier one. Deletes old notices of the account. */
export async function keepNotices(
  db: Queryable,
  accountId: string,
  { keyId, notices }: ErasureNotices,
  nowMs: number,
): Promise<void> {
  await db.query('delete from erasure_notices where account_id = $1 and erased_at < $2', [
    accountId,
    new Date(nowMs - keptMs),
  ]);
  for (const [part, { id, atMs, visitors }] of notices.entries()) {
    await db.query(
      `insert into erasure_notices (id, part, account_id, key_id, erased_at, visitors) values ($1, $2, $3, $4, $5, $6)
        on conflict (id, part) do update set erased_at = excluded.erased_at`,
      [id, part, accountId, keyId, new Date(atMs), visitors],
    );
  }
}

/**
 * Replaces notices without a key, which an upgrade made of earlier versions' erasures: they have ids instead of hashes.
 * Returns their number, at most a page.
 */
export function keyNotices(pool: Pool, connection: LogConnection, nowMs: number): Promise<number> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<NoticeRow>(
      `delete from erasure_notices
        where id in (select id from erasure_notices where key_id = '' limit ${noticesPerPage})
        returning id, part, account_id, erased_at, visitors`,
    );
    for (const { id, account_id: accountId, erased_at: erasedAt, visitors: visitorIds } of rows) {
      const erasure = { id, accountId, visitorIds, atMs: erasedAt.getTime(), isAhead: false };
      await keepNotices(client, accountId, await noticesOfErasure(connection, erasure), nowMs);
    }
    return rows.length;
  });
}

export type KeptNotice = { readonly accountId: string; readonly notice: ErasureNotice };

/** The kept notices of all accounts whose hashes have this key, in pages. Earlier erasures are left out. */
export async function* selectNotices(
  pool: Pool,
  { keyId, sinceMs, nowMs }: { readonly keyId: string; readonly sinceMs: number; readonly nowMs: number },
): AsyncGenerator<readonly KeptNotice[], void, undefined> {
  const since = new Date(Math.max(sinceMs, nowMs - keptMs));
  let [lastId, lastPart] = ['00000000-0000-0000-0000-000000000000', 0];
  for (;;) {
    const { rows } = await pool.query<NoticeRow>(
      `select id, part, account_id, erased_at, visitors from erasure_notices
        where (id, part) > ($1, $2) and key_id = $3 and erased_at >= $4 order by id, part limit ${noticesPerPage}`,
      [lastId, lastPart, keyId, since],
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    [lastId, lastPart] = [last.id, last.part];
    yield rows.map((row) => {
      const atMs = row.erased_at.getTime();
      const isAhead = atMs > nowMs;
      const notice = { v: 1, id: row.id, atMs, ...(isAhead ? { isAhead } : {}), visitors: row.visitors } as const;
      return { accountId: row.account_id, notice };
    });
  }
}

type NoticeRow = { id: string; part: number; account_id: string; erased_at: Date; visitors: string[] };
