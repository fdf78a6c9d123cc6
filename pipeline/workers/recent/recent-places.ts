import type { Pool } from 'pg';
import { inTransaction } from '../../../shared/postgres/in-transaction.ts';

/** Up to which sequence of EVENTS the view has what a partition wrote; undefined where it is not recorded yet. */
export async function readPlace(pool: Pool, partition: number): Promise<number | undefined> {
  const { rows } = await pool.query<{ seq: string }>('select seq from recent_places where partition = $1', [partition]);
  return rows[0] === undefined ? undefined : Number(rows[0].seq);
}

/** Notes that place. Like the events it is of not flushed to disk before this returns: what a crash takes is looked at again. */
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
