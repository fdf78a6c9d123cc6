import type { Pool } from 'pg';
import { checkPostgres } from '../../shared/doctor/check-postgres.ts';
import { checkSpace, findDataPlaces } from '../../shared/doctor/check-space.ts';
import { fail, ok } from '../../shared/doctor/finding.ts';
import type { Finding } from '../../shared/doctor/finding.ts';
import { judgeDurability, judgeLog, judgeLogServer } from '../../shared/doctor/judge-log.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { inspectLog } from '../../shared/nats/monitor/inspect-log.ts';
import { readDurability } from '../../shared/nats/monitor/read-durability.ts';
import { readLogServers } from '../../shared/nats/monitor/read-log-servers.ts';
import type { TopologySettings } from '../../shared/nats/streams/topology-settings.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { defineService } from '../api/services.ts';

export type FindingsReader = { read(): Promise<JsonObject> };

export const findings = defineService<FindingsReader>('findings');

export type FindingsOptions = {
  readonly connection: LogConnection;
  readonly topology: TopologySettings;
  readonly monitorUrls: string | undefined;
  readonly pool: Pool;
  now(): Date;
};

const timeoutMs = 3_000;
const order = { fail: 0, warn: 1, ok: 2 } as const;

/** Runs the checks of the doctor that a control plane can run; at most once in `freshMs` for all requests. */
export function createFindingsReader(options: FindingsOptions, freshMs = 15_000): FindingsReader {
  let newest: { readonly atMs: number; readonly findings: Promise<JsonObject> } | undefined;
  return {
    read() {
      const atMs = performance.now();
      if (newest === undefined || atMs - newest.atMs >= freshMs) newest = { atMs, findings: look(options) };
      return newest.findings;
    },
  };
}

async function look({ connection, topology, monitorUrls, pool, now }: FindingsOptions): Promise<JsonObject> {
  const [log, servers, database, disks] = await Promise.all([
    orFinding('log', adviceOnLog, async () => judgeLog(await inspectLog(connection, topology))),
    orFinding('log servers', adviceOnLog, async () => [
      judgeDurability(await readDurability(monitorUrls, timeoutMs)),
      ...(await readLogServers(monitorUrls, timeoutMs)).flatMap(judgeLogServer),
    ]),
    orFinding('database', 'start PostgreSQL, or check DATABASE_URL of the control planes', () => checkPostgres(pool)),
    orFinding('disk', adviceOnLog, () => checkDisks(monitorUrls)),
  ]);
  const findings = [...disks, ...database, ...log, ...servers].toSorted((a, b) => order[a.level] - order[b.level]);
  return {
    lookedAt: now().toISOString(),
    entities: findings.map(({ level, about, detail, advice }) => ({ level, about, detail, advice: advice ?? null })),
  };
}

const adviceOnLog = 'check that nats-server and its monitor can be reached from the control plane';

async function checkDisks(monitorUrls: string | undefined): Promise<readonly Finding[]> {
  const places = await findDataPlaces(monitorUrls, timeoutMs);
  if (places.length > 0) return (await Promise.all(places.map(checkSpace))).flat();
  return [ok('disk space', 'the log is on other machines: npm run doctor there checks their disks')];
}

async function orFinding(
  about: string,
  advice: string,
  findings: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await findings();
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return [fail(about, detail, advice)];
  }
}
