import { noSuspicion } from '../../worker/suspicion.ts';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import pino from 'pino';
import type { ResolvedEvent } from '../../../../shared/contracts/events/resolved-event.ts';
import { countResults } from '../../../../shared/visitors/count-results.ts';
import type { VariantCount } from '../../../../shared/visitors/count-results.ts';
import { connectLog } from '../../../../shared/nats/connection/connection.ts';
import { publish } from '../../../../shared/nats/publish/publisher.ts';
import { eventsSubject } from '../../../../shared/contracts/subjects.ts';
import { asLogUser } from '../../../../shared/testing/as-log-user.ts';
import { makeTestLog } from '../../../../shared/testing/make-test-log.ts';
import { eraseFor } from '../../../../shared/testing/visitors.ts';
import { createTestDatabase, startTestNats } from '../../../../shared/testing/servers.ts';
import type { Actor } from '../../worker/define-worker.ts';
import { testTopology } from '../../../../shared/testing/test-topology.ts';
import { resolvedFrame } from '../../recent/testing/resolved.ts';
import { resultsSettings } from '../results-settings.ts';
import { startResultsCounter } from '../results-counter.ts';

/** The only experiment that is counted, and its event. */
export const experimentId = 'experiment-1';
export const metric = 'Purchase';

const plan = { metrics: new Map([[metric, [experimentId]]]), flags: new Map() };

/** A log and a database for tests of counting results. */
export async function createResultsRig() {
  const startedAtMs = Date.now() - 3_600_000;
  const [nats, database] = await Promise.all([startTestNats(), createTestDatabase()]);
  const roles = await database.migrateWithRoles();
  await makeTestLog(nats, testTopology({ partitions: 2 }));
  const connection = await connectLog({ url: asLogUser(nats.url, 'pipeline'), name: 'results-test' });
  const pool = new pg.Pool({ connectionString: database.url, max: 3 });
  const pipelinePool = new pg.Pool({ connectionString: roles.pipeline, max: 6 });
  // A connection that breaks while idle is replaced by the pool.
  for (const one of [pool, pipelinePool]) one.on('error', () => undefined);
  const running = new Set<Actor>();
  return {
    /** The connection that the counters use. */
    connection,
    /** The owner's pool, with which the test reads and changes rows. */
    pool,
    /** Puts events of an account into a frame of the log. */
    send: (accountId: string, events: readonly ResolvedEvent[], partition = 0) => {
      const { data, headers } = resolvedFrame(events);
      const options = { msgId: randomUUID(), timeoutMs: 5_000, headers };
      return publish(connection, eventsSubject(accountId, partition), data, options);
    },
    start: async (accountId: string): Promise<Actor> => {
      const actor = await startResultsCounter({
        accountId,
        publishedAtMs: startedAtMs,
        connection,
        pool: pipelinePool,
        settings: { ...resultsSettings, framesPerTake: 4, lingerMs: 1 },
        logger: pino({ level: 'silent' }),
        beginTurn: () => undefined,
        suspicion: noSuspicion,
        plan: () => plan,
      });
      running.add(actor);
      actor.done.catch(() => running.delete(actor));
      return actor;
    },
    /** Stores an assignment, as the control plane does before it returns the variant. */
    assign: (accountId: string, visitorId: string, variantId: string) =>
      pool.query('insert into experiment_assignments values ($1, $2, $3, $4)', [
        accountId,
        visitorId,
        experimentId,
        variantId,
      ]),
    addVisitor: (accountId: string, id: string, state: { mergedInto?: string } = {}) =>
      pool.query(
        `insert into visitors (account_id, id, merged_into) values ($1, $2, $3)
          on conflict (account_id, id) do update set merged_into = excluded.merged_into`,
        [accountId, id, state.mergedInto ?? null],
      ),
    erase: (accountId: string, id: string) => eraseFor(pool, { accountId, id }),
    results: async (accountId: string): Promise<VariantCount[]> => {
      const counted = await countResults(pool, accountId, experimentId, metric);
      return counted.toSorted((a, b) => (a.variantId < b.variantId ? -1 : 1));
    },
    stopCounters: async () => {
      for (const actor of running) await actor.stop(5_000);
      running.clear();
    },
    close: async () => {
      for (const actor of running) await actor.stop(5_000);
      await connection.close();
      await Promise.all([pool.end(), pipelinePool.end()]);
      await Promise.all([nats.stop(), database.drop()]);
    },
  };
}
