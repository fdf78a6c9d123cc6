import { appendFile, chown, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { runCommand } from '../../../shared/embedded/machine/run-command.ts';
import { clusterDirOf } from '../../../shared/embedded/postgres/postgres-cluster.ts';
import { startPostgresServer } from '../../../shared/embedded/postgres/postgres-server.ts';
import { waitUntil } from '../../machine/wait-until.ts';
import { databaseFolder, extend, startDatabase } from './stack-parts.ts';
import type { DatabasePart } from './stack-parts.ts';

/** A PostgreSQL server that follows another one and is read-only until it is promoted. */
export type StandbyPart = DatabasePart & {
  /** Makes the server the primary; resolves once it accepts writes. */
  promote(): Promise<void>;
};

export type DatabasePair = { readonly primary: DatabasePart; readonly standby: StandbyPart };

const standbyName = 'standby';
const copyDeadlineMs = 60_000;
const followDeadlineMs = 30_000;

/** Starts two PostgreSQL servers with synchronous replication, so that a commit is on both disks. */
export async function startDatabasePair(folder: string, say: (line: string) => void): Promise<DatabasePair> {
  const [dataDir, copyDir] = [databaseFolder(folder), `${databaseFolder(folder)}-${standbyName}`];
  // The files of a stopped server are consistent, so they may be copied.
  const first = await startPostgresServer({ dataDir });
  await first.stop();
  await runCommand('cp', ['-a', first.home, copyDir], { timeoutMs: copyDeadlineMs });
  const primary = await startDatabase(dataDir, say);
  try {
    await makeStandby(clusterDirOf(copyDir), primary.url);
    const standby = await startDatabase(copyDir, say, { name: `PostgreSQL ${standbyName}` });
    try {
      await commitTogether(primary.url);
    } catch (error) {
      await standby.stop();
      throw error;
    }
    return { primary, standby: extend(standby, { promote: () => promote(standby.url) }) };
  } catch (error) {
    await primary.stop();
    throw error;
  }
}

/** Sets up a standby as in https://www.postgresql.org/docs/current/warm-standby.html#STANDBY-SERVER-SETUP */
async function makeStandby(clusterDir: string, primaryUrl: string): Promise<void> {
  const { uid, gid } = await stat(clusterDir);
  const signal = join(clusterDir, 'standby.signal');
  await writeFile(signal, '', { mode: 0o600 });
  await chown(signal, uid, gid);
  const from = `${primaryUrl}?application_name=${standbyName}`;
  await appendFile(join(clusterDir, 'postgresql.auto.conf'), `primary_conninfo = '${from}'\n`);
}

async function commitTogether(primaryUrl: string): Promise<void> {
  await withSession(primaryUrl, async (client) => {
    await client.query(`alter system set synchronous_standby_names = '${standbyName}'`);
    await client.query('select pg_reload_conf()');
    await waitUntil('the standby to follow', followDeadlineMs, async () => {
      const { rowCount } = await client.query("select 1 from pg_stat_replication where sync_state = 'sync'");
      return rowCount === 1 ? undefined : 'it does not';
    });
  });
}

async function promote(url: string): Promise<void> {
  await withSession(url, async (client) => {
    await client.query('select pg_promote()');
  });
}

async function withSession(url: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
