import { noSuspicion } from '../../worker/suspicion.ts';
import { randomUUID } from 'node:crypto';
import pino from 'pino';
import type { ResolvedEvent } from '../../../../shared/contracts/events/resolved-event.ts';
import { connectLog } from '../../../../shared/nats/connection/connection.ts';
import { publish } from '../../../../shared/nats/publish/publisher.ts';
import { eventsSubject } from '../../../../shared/contracts/subjects.ts';
import { ensureTopology } from '../../../../shared/nats/streams/topology.ts';
import { migrate } from '../../../../shared/postgres/migrate.ts';
import { createTestDatabase, startTestNats } from '../../../../shared/testing/servers.ts';
import type { Actor } from '../../worker/define-worker.ts';
import { testTopology } from '../../../../shared/testing/test-topology.ts';
import { startRecentEventsRecorder } from '../recorder.ts';
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

const settings: RecorderSettings = {
  ...readRecentSettings(defaultsOf(recentEnv)).events,
  eventsMax: 100_000,
  ageMaxMs: 7 * 86_400_000,
  lingerMs: 5,
};

/** A log and a database for tests of the recent-events view. */
export async function createRecentRig() {
  const [nats, database] = await Promise.all([startTestNats(), createTestDatabase()]);
  await migrate(database.url);
  const connection = await connectLog({ url: nats.url, name: 'recent-test' });
  await ensureTopology(connection, testTopology({ partitions: 2 }));
  const pool = openTestPool(database.url, 6);
  const running = new Set<Actor>();
  return {
    connection,
    pool,
    databaseUrl: database.url,
    /** Puts events of one account into a frame of the log. */
    send: (accountId: string, events: readonly ResolvedEvent[]) => {
      const { data, headers } = resolvedFrame(events);
      return publish(connection, eventsSubject(accountId, 0), data, { msgId: randomUUID(), timeoutMs: 5_000, headers });
    },
    sendBytes: (accountId: string, data: Uint8Array) =>
      publish(connection, eventsSubject(accountId, 1), data, { msgId: randomUUID(), timeoutMs: 5_000 }),
    start: async (changes: Partial<RecorderSettings> = {}): Promise<Actor> => {
      const logger = pino({ level: 'silent' });
      const actor = await startRecentEventsRecorder({
        connection,
        pool,
        logger,
        beginTurn: () => undefined,
        suspicion: noSuspicion,
        settings: { ...settings, ...changes },
      });
      running.add(actor);
      return actor;
    },
    /** The events of an account in the view, in the order of their time. */
    rows: async (accountId: string): Promise<RecentRow[]> =>
      (await pool.query<RecentRow>('select * from recent_events where account_id = $1 order by time, id', [accountId]))
        .rows,
    stopRecorders: async () => {
      for (const actor of running) await actor.stop(5_000);
      running.clear();
    },
    close: async () => {
      for (const actor of running) await actor.stop(5_000);
      await connection.close();
      await pool.end();
      await Promise.all([nats.stop(), database.drop()]);
    },
  };
}
