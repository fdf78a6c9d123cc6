import type { Pool } from 'pg';
import { client } from '../nats/connection/client.ts';
import type { LogConnection } from '../nats/connection/connection.ts';

/** Everything that is stored of an account, as texts by the name of the table, stream or bucket. */
export type StateOfAccount = Readonly<Record<string, readonly string[]>>;

/** Columns that change without a request: the last use of a key, and the progress of erasures. */
const unstable: Readonly<Record<string, readonly string[]>> = {
  api_keys: ['last_used_at'],
  erasure_destinations: ['state', 'reason', 'attempts', 'next_attempt_at', 'requested_at', 'done_at'],
  erasure_records: ['subject'],
};

/**
 * Reads every row of the account, and every message of the log whose subject or text contains the account's id or one
 * of `names`: ids, such as those of destinations, in subjects that do not contain the account's id.
 */
export async function readStateOfAccount(
  { pool, log }: { readonly pool: Pool; readonly log: LogConnection },
  accountId: string,
  names: readonly string[],
): Promise<StateOfAccount> {
  const state: Record<string, string[]> = {};
  for (const table of await accountTables(pool)) {
    const { rows } = await pool.query<{ row: Record<string, unknown> }>(
      `select to_jsonb(t) as row from ${table} t where t.account_id = $1`,
      [accountId],
    );
    const left = unstable[table] ?? [];
    state[table] = rows
      .map(({ row }) => JSON.stringify(Object.entries(row).filter(([column]) => !left.includes(column))))
      .toSorted();
  }
  const { rows } = await pool.query('select * from accounts where id = $1', [accountId]);
  state['accounts'] = rows.map((row) => JSON.stringify(row));
  const wanted = [accountId, ...names];
  for (const stream of await streamNames(log)) {
    state[stream] = (await messagesOf(log, stream)).filter((text) => wanted.some((name) => text.includes(name)));
  }
  return state;
}

/** The tables whose rows belong to an account. */
export async function accountTables(pool: Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select c.table_name as name from information_schema.columns c
      join information_schema.tables t using (table_schema, table_name)
      where c.table_schema = current_schema() and c.column_name = 'account_id' and t.table_type = 'BASE TABLE'
      order by 1`,
  );
  return rows.map(({ name }) => name);
}

async function streamNames(log: LogConnection): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { config } of log[client].jsm.streams.list()) names.push(config.name);
  return names.toSorted();
}

/** Each message as text, with its sequence, subject and payload. */
async function messagesOf(log: LogConnection, stream: string): Promise<readonly string[]> {
  const { state } = await log[client].jsm.streams.info(stream);
  const texts: string[] = [];
  for (let seq = Math.max(state.first_seq, 1); seq <= state.last_seq; seq += 1) {
    const message = await log[client].jsm.streams.getMessage(stream, { seq }).catch(() => undefined);
    if (message === undefined) continue;
    texts.push(`${seq} ${message.subject} ${Buffer.from(message.data).toString('latin1')}`);
  }
  return texts;
}
