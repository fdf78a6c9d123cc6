import { migrate } from '../../shared/postgres/migrate.ts';
import { benchAccountId } from '../config/ids.ts';
import { publishAccounts } from '../config/account-document.ts';
import { fillIngest } from '../fill/fill-ingest.ts';
import { meanOf, plainFigure } from '../result/figure.ts';
import type { Series } from '../result/result.ts';
import type { Scenario } from '../system/scenario.ts';
import { assertNoneRefused, startPipeline } from '../system/services.ts';
import { readMetrics } from '../system/metrics-page.ts';
import { peakMemoryBytes } from '../machine/process-use.ts';
import { memoryProbe, startSampler } from '../system/sampler.ts';
import { waitUntil } from '../machine/wait-until.ts';

const partitions = 4;
const visitors = 1_000;
const gibibyte = 1024 ** 3;
const stepDeadlineMs = 600_000;
/** The table is full after this share of the ids; all that come after it must find room without growing it. */
const fullAfterShare = 0.1;
const steps = 20;

/** Memory of the resolvers while ids go by that their table has no more room for. */
export const dedupeMemory: Scenario = {
  name: 'dedupe-memory',
  summary: '10 million distinct ids past a full deduplication table: the memory of the pipeline stays flat',
  bars: [
    {
      id: 'flat',
      text: 'memory at the end against when the table was full',
      limit: 1.1,
      unit: 'ratio',
      ask: 'at-most',
    },
  ],
  run({ stage, isQuick, progress }) {
    const ids = isQuick ? 200_000 : 10_000_000;
    const idsMax = Math.max(1_000, Math.ceil((ids * fullAfterShare) / partitions));
    // Large: one measurement from start to end.
    return stage.scoped(async (own) => {
      progress.step(`${ids.toLocaleString('en-US')} ids`, ids / 30_000 + 10);
      const log = await own.startLog();
      await publishAccounts(log.url, [{ accountId: benchAccountId }]);
      const databaseUrl = await own.createDatabase();
      await migrate(databaseUrl);
      const env = {
        LOG_PARTITIONS: String(partitions),
        RESOLVER_DEDUPLICATION_IDS_MAX: String(idsMax),
        // Resolved events leave the log at once: the scenario counts ids, not gigabytes.
        LOG_EVENTS_BYTES_MAX: String(2 * gibibyte),
        RETENTION_EVERY_MS: '1000',
      };
      const pipeline = await startPipeline(own, log.url, databaseUrl, { env });
      const sampler = startSampler([memoryProbe('pipeline', pipeline.pid)], 250);
      const resolved = async (): Promise<number> =>
        (await readMetrics(pipeline.metricsUrl)).sum('sluice_resolver_resolved_total');
      const startedMs = performance.now();
      let fullAtS = 0;
      for (let step = 0; step < steps; step += 1) {
        const events = ids / steps;
        await fillIngest({
          natsUrl: log.url,
          accountId: benchAccountId,
          events,
          partitions,
          visitors,
          from: step * events,
        });
        const wanted = (step + 1) * events;
        await waitUntil(
          'the ids to be resolved',
          stepDeadlineMs,
          async () => {
            await assertNoneRefused(pipeline);
            const count = await resolved();
            progress.note(`${count.toLocaleString('en-US')} ids`);
            return count >= wanted ? undefined : `${count} of ${wanted}`;
          },
          250,
        );
        // One step more than the table needs, so that all of its parts are full.
        if (fullAtS === 0 && wanted >= ids * fullAfterShare * 1.5) fullAtS = (performance.now() - startedMs) / 1000;
      }
      const seconds = (performance.now() - startedMs) / 1000;
      const metrics = await readMetrics(pipeline.metricsUrl);
      const series = await sampler.stop();
      const { atFull, atEnd } = compareEnds(series, fullAtS, seconds);
      return {
        settings: { ids, visitors, turned: env },
        rows: [
          {
            name: `${ids.toLocaleString('en-US')} distinct ids`,
            figures: {
              'events/s': plainFigure('per_s', 'more', [ids / seconds]),
              'ids held': plainFigure('count', 'more', [metrics.sum('sluice_resolver_deduplication_ids')]),
              table: plainFigure('bytes', 'less', [metrics.sum('sluice_resolver_deduplication_bytes')]),
              'memory when full': plainFigure('bytes', 'less', [atFull]),
              'memory at the end': plainFigure('bytes', 'less', [atEnd]),
              peak: plainFigure('bytes', 'less', [await peakMemoryBytes(pipeline.pid)]),
              growth: plainFigure('ratio', 'less', [atEnd / atFull]),
            },
            series,
          },
        ],
        measured: { flat: atEnd / atFull },
      };
    });
  },
};

/** Means of the first and the last third of the time in which the table was full. */
function compareEnds(series: readonly Series[], fullAtS: number, seconds: number): { atFull: number; atEnd: number } {
  const third = (seconds - fullAtS) / 3;
  const mean = (from: number, to: number): number =>
    meanOf((series[0]?.points ?? []).filter(([atS]) => atS >= from && atS <= to).map(([, bytes]) => bytes));
  return { atFull: mean(fullAtS, fullAtS + third), atEnd: mean(seconds - third, seconds) };
}
