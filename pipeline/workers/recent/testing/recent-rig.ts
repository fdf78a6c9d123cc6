import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { idsHeader } from '../../../../shared/contracts/events/event-hash.ts';
import type { ResolvedEvent } from '../../../../shared/contracts/events/resolved-event.ts';
import { connectLog } from '../../../../shared/nats/connection/connection.ts';
import { publish } from '../../../../shared/nats/publish/publisher.ts';
import { eventsSubject } from '../../../../shared/contracts/subjects.ts';
import { asLogUser } from '../../../../shared/testing/as-log-user.ts';
import { makeTestLog } from '../../../../shared/testing/make-test-log.ts';
import { createTestDatabase, startTestNats } from '../../../../shared/testing/servers.ts';
import { testTopology } from '../../../../shared/testing/test-topology.ts';
import { zeros } from '../../worker/define-worker.ts';
import { recorderCounters } from '../recorder-context.ts';
import { PlanOutcomes } from '../plan-outcomes.ts';
import { openRecorder } from '../recorder.ts';
import { defaultsOf } from '../../../../shared/runtime/env.ts';
import { readRecentSettings, recentEnv } from '../recent-settings.ts';
import type { RecorderSettings } from '../recent-settings.ts';
import { resolvedFrame } from './resolved.ts';
import { openTestPool } from '../../../../shared/testing/test-pool.ts';

export type RecentRow = {
  readonly id: string;
  readonly name: string;
  readonly visitor_id: string;
  readonly test: boolean;
  readonly version_number: number | null;
  readonly body: { readonly event_properties: unknown };
};

/** A recorder of the events that the rig sends. */
export type TestRecorder = {
  stats(): Readonly<Record<string, number>>;
  /** Ends the recorder after it has written all waiting events. */
  close(): Promise<void>;
  /** Ends the recorder at once, as a resolver does when its time to stop is over. */
  abort(): Promise<void>;
};

type Partition = { readonly partition: number; readonly partitions: number };

const settings: RecorderSettings = {
  ...readRecentSettings(defaultsOf(recentEnv)).events,
  eventsMax: 100_000,
  ageMaxMs: 7 * 86_400_000,
  lingerMs: 5,
};

/** A log and a database for tests of the recent-events view. */
export async function createRecentRig() {
  const [nats, database] = await Promise.all([startTestNats(), createTestDatabase()]);
  const roles = await database.migrateWithRoles();
  await makeTestLog(nats, testTopology({ partitions: 2 }));
  const connection = await connectLog({ url: asLogUser(nats.url, 'pipeline'), name: 'recent-test' });
  const pool = openTestPool(database.url, 3);
  const pipelinePool = openTestPool(roles.pipeline, 6);
  const running = new Map<TestRecorder, Awaited<ReturnType<typeof openRecorder>>>();
  const store = async (accountId: string, data: Uint8Array, ids: string): Promise<void> => {
    const options = { msgId: randomUUID(), timeoutMs: 5_000, headers: { [idsHeader]: ids } };
    const { seq } = await publish(connection, eventsSubject(accountId, 0), data, options);
    for (const recorder of running.values()) recorder.note({ accountId, lines: data, seq });
  };
  const closeAll = async (): Promise<void> => {
    for (const recorder of running.keys()) await recorder.close();
  };
  return {
    connection,
    /** The owner's pool, with which the test reads and changes rows. */
    pool,
    /** The pool that the recorders use. */
    pipelinePool,
    databaseUrl: database.url,
    /** Puts events of one account into a frame of the log. */
    send: (accountId: string, events: readonly ResolvedEvent[]): Promise<void> => {
      const { data, headers } = resolvedFrame(events);
      return store(accountId, data, headers[idsHeader] ?? '');
    },
    sendBytes: (accountId: string, data: Uint8Array): Promise<void> => store(accountId, data, ''),
    start: async (changes: Partial<RecorderSettings> = {}, of: Partial<Partition> = {}): Promise<TestRecorder> => {
      const counts = zeros(recorderCounters);
      const abort = new AbortController();
      const planOutcomes = new PlanOutcomes();
      const opened = await openRecorder({
        partition: 0,
        partitions: 1,
        ...of,
        connection,
        pool: pipelinePool,
        logger: pino({ level: 'silent' }),
        counts,
        signal: abort.signal,
        beginTurn: () => undefined,
        planOutcomes,
        settings: { ...settings, ...changes },
      });
      const recorder: TestRecorder = {
        stats: () => ({ ...counts, ...opened.gauges() }),
        close: () => {
          running.delete(recorder);
          return opened.close();
        },
        abort: () => {
          abort.abort();
          return recorder.close();
        },
      };
      running.set(recorder, opened);
      return recorder;
    },
    /** The events of an account in the view, by time. */
    rows: async (accountId: string): Promise<RecentRow[]> =>
      (await pool.query<RecentRow>('select * from recent_events where account_id = $1 order by time, id', [accountId]))
        .rows,
    closeAll,
    close: async () => {
      await closeAll();
      await connection.close();
      await Promise.all([pool.end(), pipelinePool.end()]);
      await Promise.all([nats.stop(), database.drop()]);
    },
  };
}
