import type { Pool } from 'pg';
import { inTransaction } from '../../../shared/postgres/in-transaction.ts';

/** The EVENTS sequence up to which the view holds a partition's events; undefined if none is recorded. */
export async function readPlace(pool: Pool, partition: number): Promise<number | undefined> {
  const { rows } = await pool.query<{ seq: string }>('select seq from recent_places where partition = $1', [partition]);
  return rows[0] === undefined ? undefined : Number(rows[0].seq);
}

/**
 * Records the sequence. Like the events, it is not flushed to disk before this returns: after a crash, the events after
 * the last flushed sequence are read again.
 */
export async function writePlace(pool: Pool, partition: number, seq: number): Promise<void> {
  const write = (client: Pick<Pool, 'query'>): Promise<unknown> =>
    client.query({
      name: 'write-recent-place',
      text: `insert into recent_places (partition, seq) values ($1, $2)
        on conflict (partition) do update set seq = excluded.seq`,
      values: [partition, seq],
    });
  await inTransaction(pool, write, { isFlushed: false });
}
