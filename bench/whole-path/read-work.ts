import { Client } from 'pg';
import { readDiskFlushes } from '../machine/disk-flushes.ts';
import type { Stage } from '../system/stage.ts';
import type { WholeStack } from './whole-stack.ts';
import { cpuMsOfStack } from './whole-stack.ts';

/** Work that a stack has done so far, as counted by its servers and by the kernel. */
export type Work = {
  readonly atMs: number;
  /** CPU time in ms, by process. */
  readonly cpuMs: Readonly<Record<string, number>>;
  /** Messages into and out of nats-server; publishes, pulls, acknowledgements and answers count as one each. */
  readonly messagesIn: number;
  readonly messagesOut: number;
  /** Messages stored in streams and buckets; with `sync_interval: always` each stored message is synced. */
  readonly stored: number;
  /** Syncs of PostgreSQL's write-ahead log. */
  readonly walSyncs: number;
  /**
   * Transactions of PostgreSQL. A single statement counts as one transaction, and so does everything between BEGIN and
   * COMMIT.
   */
  readonly transactions: number;
  /** Flushes of the disk by all processes of the machine; NaN if the system does not count them. */
  readonly flushes: number;
};

/** Counts that can be related to events or to seconds. */
export const workCounts = ['messagesIn', 'messagesOut', 'stored', 'walSyncs', 'transactions', 'flushes'] as const;
export type WorkCount = (typeof workCounts)[number];

export type WorkMeter = { read(): Promise<Work>; close(): Promise<void> };

const deadlineMs = 5_000;
type Json = Readonly<Record<string, unknown>>;

/**
 * Reads the work of a stack. Busy sessions of PostgreSQL report their counts up to a second late; two readings under
 * the same load have the same delay.
 */
export async function openWorkMeter(stage: Stage, stack: WholeStack): Promise<WorkMeter> {
  const session = new Client({ connectionString: stack.databaseUrl, query_timeout: deadlineMs });
  // If the connection is lost, the next read fails; without this listener, the loss would end the bench.
  session.on('error', () => undefined);
  await session.connect();
  return {
    async read() {
      const [nodes, stored, database, flushes, cpuMs] = await Promise.all([
        Promise.all(stack.natsMonitorUrls.map((url) => readPage(url, 'varz'))),
        Promise.all(stack.natsMonitorUrls.map(readStored)),
        session.query<Json>(databaseQuery),
        readDiskFlushes(stage.folder),
        cpuMsOfStack(stack),
      ]);
      const row = database.rows[0] ?? {};
      return {
        atMs: performance.now(),
        cpuMs,
        messagesIn: sum(nodes.map(({ in_msgs: messages }) => Number(messages))),
        messagesOut: sum(nodes.map(({ out_msgs: messages }) => Number(messages))),
        stored: sum(stored),
        walSyncs: Number(row['syncs']),
        transactions: Number(row['transactions']),
        flushes,
      };
    },
    close: () => session.end(),
  };
}

const databaseQuery = `
  SELECT (SELECT wal_sync FROM pg_stat_wal) AS syncs,
         (SELECT sum(xact_commit + xact_rollback) FROM pg_stat_database) AS transactions`;

/** Number of messages ever stored, computed from the sequences: these never decrease, so removed messages count too. */
async function readStored(monitorUrl: string): Promise<number> {
  const page = (await readPage(monitorUrl, 'jsz?accounts=true&streams=true')) as StreamsPage;
  const streams = (page.account_details ?? []).flatMap(({ stream_detail: details = [] }) => details);
  return sum(streams.map(({ state }) => state.last_seq));
}

type StreamsPage = {
  readonly account_details?: readonly {
    readonly stream_detail?: readonly { readonly state: { readonly last_seq: number } }[];
  }[];
};

async function readPage(monitorUrl: string, page: string): Promise<Json> {
  const answer = await fetch(`${monitorUrl}/${page}`, { signal: AbortSignal.timeout(deadlineMs) });
  if (!answer.ok) throw new Error(`reading ${monitorUrl}/${page}: ${answer.status}`);
  return (await answer.json()) as Json;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
