import { getHeapStatistics } from 'node:v8';
import type { Finding } from '../../../shared/doctor/finding.ts';
import { judgeMemory } from '../../../shared/doctor/judge-memory.ts';
import type { MemoryUse } from '../../../shared/doctor/judge-memory.ts';
import { readTopologySettings } from '../../../shared/nats/streams/topology-settings.ts';
import { givesHeap, readMainHeapMib } from '../../../shared/runtime/heap-option.ts';
import { readMachine } from '../../../shared/runtime/machine.ts';
import { monitorUrls, readMonitor } from '../../../shared/nats/monitor/read-monitor.ts';
import { askDatabase } from './ask-database.ts';
import type { DoctorEnv } from './env.ts';
import { serviceMemory } from './memory-settings.ts';
import type { ServiceCounts } from './memory-settings.ts';

const mebibyte = 1024 ** 2;
const loopback = /^(?:127\.\d+\.\d+\.\d+|localhost|\[?::1\]?)$/;
const isHere = (url: string): boolean => loopback.test(new URL(url).hostname);

/** Checks the memory that the configuration allows to the services and to the servers on this machine, in total. */
export async function checkMemory(env: DoctorEnv, timeoutMs: number, counts: ServiceCounts): Promise<Finding[]> {
  const servers = await Promise.all([logMemory(env, timeoutMs), databaseMemory(env, timeoutMs)]);
  // The heap limit that a service gets: from NODE_OPTIONS, else from MAIN_HEAP_MIB or the machine's memory.
  const heapBytes = givesHeap(process.env['NODE_OPTIONS'])
    ? getHeapStatistics().heap_size_limit
    : readMainHeapMib(env) * mebibyte;
  const { partitions } = readTopologySettings(env);
  const services = serviceMemory(env, { heapBytes, partitions }, counts);
  return judgeMemory([...services, ...servers.flat()], readMachine().memoryBytes);
}

function logMemory(env: DoctorEnv, timeoutMs: number): Promise<MemoryUse[]> {
  const here = monitorUrls(env.NATS_MONITOR_URL).filter(isHere);
  const used = here.map(async (url): Promise<MemoryUse[]> => {
    // A monitor port that does not respond is reported by the durability check.
    const page = await readMonitor(url, timeoutMs).catch(() => undefined);
    if (page === undefined) return [];
    const of = page.server_name ?? 'nats-server';
    if (page.gomemlimit === undefined) {
      const unbounded = { what: 'its memory', advice: 'set GOMEMLIMIT in its environment, see deploy/nats/README.md' };
      return [{ of, processes: 1, parts: [], unbounded }];
    }
    return [{ of, processes: 1, parts: [{ what: 'GOMEMLIMIT', bytes: page.gomemlimit }] }];
  });
  return Promise.all(used).then((uses) => uses.flat());
}

type DatabaseSettings = {
  readonly shared: string;
  readonly work: string;
  readonly maintenance: string;
  readonly connections: number;
  readonly workers: number;
};

async function databaseMemory({ DATABASE_URL, ...env }: DoctorEnv, timeoutMs: number): Promise<MemoryUse[]> {
  if (DATABASE_URL === undefined || !isHere(DATABASE_URL)) return [];
  try {
    const { rows } = await askDatabase({ ...env, DATABASE_URL }, timeoutMs, (client) =>
      client.query<DatabaseSettings>(
        `select pg_size_bytes(current_setting('shared_buffers')) as shared, pg_size_bytes(current_setting('work_mem')) as work,
           pg_size_bytes(current_setting('maintenance_work_mem')) as maintenance,
           current_setting('max_connections')::int as connections, current_setting('autovacuum_max_workers')::int as workers`,
      ),
    );
    return rows.map(postgresMemory);
  } catch {
    // The reason is reported by the database check.
    return [];
  }
}

function postgresMemory({ shared, work, maintenance, connections, workers }: DatabaseSettings): MemoryUse {
  return {
    of: 'PostgreSQL',
    processes: 1,
    parts: [
      { what: 'shared_buffers', bytes: Number(shared) },
      { what: `work_mem of ${connections} connections`, bytes: connections * Number(work) },
      { what: `maintenance_work_mem of ${workers} workers`, bytes: workers * Number(maintenance) },
    ],
  };
}
