import type { ClientBase, Pool } from 'pg';
import { fail, ok } from './finding.ts';
import type { Finding } from './finding.ts';
import { judgeClock } from './judge-machine.ts';
import { judgePostgres } from './judge-versions.ts';

type Queryable = Pick<ClientBase | Pool, 'query'>;

type ServerRow = {
  readonly version: string;
  readonly now: number;
  readonly fsync: string;
  readonly sync: string;
  readonly readOnly: string;
};

const takesNoWrites = fail(
  'database writes',
  'the server accepts no writes: it is a standby, or set to read-only',
  'promote it, or set DATABASE_URL to the server that accepts writes',
);

/** Version, durability and clock of a PostgreSQL server, and whether it accepts writes. */
export async function checkPostgres(db: Queryable): Promise<Finding[]> {
  const [askedAt, started] = [Date.now(), performance.now()];
  const { rows } = await db.query<ServerRow>(
    `select current_setting('server_version_num') as version, current_setting('fsync') as fsync,
       current_setting('synchronous_commit') as sync, current_setting('transaction_read_only') as "readOnly", (extract(epoch from clock_timestamp()) * 1000)::float8 as now`,
  );
  const tookMs = performance.now() - started;
  const [row] = rows;
  if (row === undefined) return [];
  const isDurable = row.fsync === 'on' && row.sync !== 'off';
  const durability = isDurable
    ? ok('database durability', 'commits are synced')
    : fail(
        'database durability',
        `fsync is ${row.fsync}, synchronous_commit is ${row.sync}`,
        'turn both on: published configuration and visitors live here',
      );
  return [
    judgePostgres(Number(row.version)),
    ...(row.readOnly === 'on' ? [takesNoWrites] : []),
    durability,
    judgeClock('PostgreSQL', row.now - (askedAt + tookMs / 2), tookMs / 2),
  ];
}
