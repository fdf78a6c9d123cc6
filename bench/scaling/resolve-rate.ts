import { migrate } from '../../shared/postgres/migrate.ts';
import { benchAccountId } from '../config/ids.ts';
import { publishAccounts } from '../config/publish-accounts.ts';
import { fillIngest } from '../fill/fill-ingest.ts';
import type { ScenarioContext } from '../system/scenario.ts';
import { assertNoneRefused } from '../system/assert-none-refused.ts';
import { readMetrics } from '../system/metrics-page.ts';
import { startPipeline } from '../system/services.ts';
import { waitUntil } from '../machine/wait-until.ts';
import { whilePaused } from '../system/while-paused.ts';

/** What a backlog is sized for. */
const resolvedPerS = 40_000;
const visitors = 20_000;
const drainDeadlineMs = 300_000;

type Shape = { readonly partitions: number; readonly threads: number };

/** Events a second that resolvers work off a full ingest log, visitors and output included. */
export function resolveRate(context: ScenarioContext, { partitions, threads }: Shape): Promise<number> {
  const { seconds, progress } = context;
  return context.stage.scoped(async (stage) => {
    progress.step(`${partitions} partitions, ${threads} threads`, seconds * 2 + 5);
    const log = await stage.startLog();
    await publishAccounts(log.url, [{ accountId: benchAccountId }]);
    const databaseUrl = await stage.createDatabase();
    await migrate(databaseUrl);
    const pipeline = await startPipeline(stage, log.url, databaseUrl, {
      env: { LOG_PARTITIONS: String(partitions), PIPELINE_THREADS: String(threads) },
    });
    const events = Math.ceil(resolvedPerS * seconds);
    const fill = { natsUrl: log.url, accountId: benchAccountId, partitions, visitors };
    const resolved = async (count: number): Promise<void> =>
      waitUntil(
        'the backlog to be resolved',
        drainDeadlineMs,
        async () => {
          await assertNoneRefused(pipeline);
          const done = (await readMetrics(pipeline.metricsUrl)).sum('sluice_resolver_resolved_total');
          progress.note(`${Math.round(done).toLocaleString('en-US')} events`);
          return done >= count ? undefined : `${done} of ${count}`;
        },
        50,
      );
    // The first tenth makes visitors and warms up what there is to warm up.
    const warmUp = Math.ceil(events / 10);
    await fillIngest({ ...fill, events: warmUp });
    await resolved(warmUp);
    await whilePaused(pipeline.pid, () => fillIngest({ ...fill, events, from: warmUp }));
    const startedMs = performance.now();
    await resolved(warmUp + events);
    return (events * 1000) / (performance.now() - startedMs);
  });
}
