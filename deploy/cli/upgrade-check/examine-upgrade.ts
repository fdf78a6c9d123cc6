import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { decodeReport } from '../../../shared/contracts/process-report.ts';
import type { ProcessReport } from '../../../shared/contracts/process-report.ts';
import { fail, ok, warn } from '../../../shared/doctor/finding.ts';
import type { Finding } from '../../../shared/doctor/finding.ts';
import { judgeNatsServer, judgeNode, judgePostgres } from '../../../shared/doctor/judge-versions.ts';
import { readBucket } from '../../../shared/nats/buckets/bucket.ts';
import { connectLog } from '../../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { inspectLog } from '../../../shared/nats/monitor/inspect-log.ts';
import { readTopologySettings } from '../../../shared/nats/streams/topology-settings.ts';
import { buckets, readLogFormat } from '../../../shared/nats/streams/topology.ts';
import { connectFailure, databaseAccess, sslOptions } from '../../../shared/postgres/database-access.ts';
import type { DatabaseVariables } from '../../../shared/postgres/database-access.ts';
import { migrationList } from '../../../shared/postgres/migrations/migration-list.ts';
import { topFolder } from '../../../shared/runtime/compiled-path.ts';
import { EnvError } from '../../../shared/runtime/env.ts';
import { readDoctorEnv } from '../doctor/env.ts';
import type { DoctorEnv } from '../doctor/env.ts';
import { commandLogAccess } from '../doctor/log-login.ts';
import { runChecks } from '../doctor/run-checks.ts';
import { judgeFormat, judgeMigrations, judgeReleases, judgeRunning, oldestOf } from './judge-upgrade.ts';
import { readChangelog } from './read-changelog.ts';

/**
 * Predicts what happens when the services in this environment are replaced by this version. Changes nothing.
 * `deadlineMs` limits each check.
 */
export async function examineUpgrade(
  source: Readonly<Record<string, string | undefined>>,
  deadlineMs: number,
): Promise<Finding[]> {
  const env = readOrFindings(source);
  if (Array.isArray(env)) return env;
  const answerMs = deadlineMs * 0.8;
  const checks = [
    {
      about: 'log',
      advice: 'check that NATS_URL is the one of the running services, and that nats-server runs',
      run: () => examineLog(env, answerMs),
    },
    {
      about: 'database',
      advice: 'check that DATABASE_URL is the one of the running services, and that PostgreSQL runs',
      run: () => examineDatabase(env, answerMs),
    },
  ];
  return [
    ok('environment', 'this version starts with it'),
    judgeNode(process.version),
    ...(await runChecks(checks, deadlineMs)),
  ];
}

function readOrFindings(source: Readonly<Record<string, string | undefined>>): DoctorEnv | Finding[] {
  try {
    return readDoctorEnv(source);
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    const advice = 'this version does not start with it: change it with the upgrade';
    return error.problems.map((problem) => fail('environment', problem, advice));
  }
}

async function examineLog(env: DoctorEnv, connectTimeoutMs: number): Promise<Finding[]> {
  const connection = await connectLog({
    ...(await commandLogAccess(env, 'doctor')),
    name: 'sluice upgrade-check',
    connectTimeoutMs,
    acceptsOldServer: true,
  });
  try {
    const processes = await readProcesses(connection);
    return [
      judgeRunning(processes),
      ...(await examineReleases(oldestOf(processes))),
      judgeNatsServer(connection.server.version),
      judgeFormat(await readLogFormat(connection)),
      ...(await examineStreams(connection, env)),
    ];
  } finally {
    await connection.close();
  }
}

/** What the releases between `oldest` and this version ask for. */
export async function examineReleases(
  oldest: string | undefined,
  changelog = new URL('CHANGELOG.md', topFolder),
): Promise<Finding[]> {
  try {
    return judgeReleases(readChangelog(await readFile(changelog, 'utf8')), oldest);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const advice = 'copy the file of this version there: it names the steps of the upgrade';
    return [warn('releases', `${fileURLToPath(changelog)} does not exist`, advice)];
  }
}

async function readProcesses(connection: LogConnection): Promise<readonly ProcessReport[]> {
  const leases = await readBucket(connection, buckets.leases);
  return [...(leases?.values() ?? [])].flatMap((value) => decodeReport(value) ?? []);
}

/** Changes to the log that the first service of this version makes when it starts. */
async function examineStreams(connection: LogConnection, env: DoctorEnv): Promise<Finding[]> {
  const { streams } = await inspectLog(connection, readTopologySettings(env));
  const findings = streams.flatMap(({ name, differences }) => {
    if (differences === undefined)
      return [warn(`stream ${name}`, 'will be created', 'nothing to do: the first service creates it')];
    return differences.map(({ setting, found, wanted }) =>
      warn(
        `stream ${name}`,
        `${setting} is ${found}, this version expects ${wanted}`,
        'npm run doctor of this version shows whether a start sets it',
      ),
    );
  });
  return findings.length === 0 ? [ok('streams', 'match this version')] : findings;
}

async function examineDatabase({ DATABASE_URL, ...env }: DoctorEnv, timeoutMs: number): Promise<Finding[]> {
  if (DATABASE_URL === undefined) {
    return [warn('schema', 'DATABASE_URL is not set', 'run this where a control plane runs, to check migrations')];
  }
  const variables: DatabaseVariables = { ...env, DATABASE_URL };
  const { databaseUrl, databaseTls } = databaseAccess(variables);
  const client = new pg.Client({
    connectionString: databaseUrl,
    ssl: sslOptions(databaseTls),
    application_name: 'sluice upgrade-check',
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  // A broken connection fails the current query; without a listener it would end this process too.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ version: string }>(`select current_setting('server_version_num') as version`);
    const known = migrationList.map(({ name }) => name);
    return [judgePostgres(Number(rows[0]?.version)), judgeMigrations(await readMigrations(client), known)];
  } catch (error) {
    throw connectFailure(error) ?? error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Names of the applied migrations; undefined if the database has none of our tables. */
async function readMigrations(client: pg.Client): Promise<readonly string[] | undefined> {
  const { rows: tables } = await client.query<{ found: string | null }>(`select to_regclass('migrations') as found`);
  if (tables[0]?.found == null) return undefined;
  const { rows } = await client.query<{ name: string }>('select name from migrations order by name');
  return rows.map(({ name }) => name);
}
