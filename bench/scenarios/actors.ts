import { migrate } from '../../shared/postgres/migrate.ts';
import { benchAccountId, destinationIdOf } from '../config/ids.ts';
import type { BenchDestination } from '../config/account-document.ts';
import { publishAccounts } from '../config/account-document.ts';
import { fillEvents } from '../fill/fill-events.ts';
import { plainFigure } from '../result/figure.ts';
import type { ResultRow } from '../result/result.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import { startSink } from '../sink/sink.ts';
import { processMemoryBytes } from '../machine/process-use.ts';
import { startPipeline } from '../system/services.ts';
import { sleep, waitUntil } from '../machine/wait-until.ts';

const many = 1_000;
const group = 'in';
const kibibyte = 1024;
const eventDeadlineMs = 120_000;

type Measured = {
  readonly firstStartMs: number;
  readonly restartMs: number;
  readonly idleBytes: number;
  readonly eventToAllMs: number;
  readonly busyBytes: number;
};

/** What a thousand destinations in one process cost: memory when idle, a start, one event to each. */
export const actors: Scenario = {
  name: 'actors',
  summary: `${many.toLocaleString('en-US')} destinations in one process: memory of each, start, one event to each`,
  bars: [
    { id: 'memory', text: 'memory of an idle destination', limit: 64 * kibibyte, unit: 'bytes', ask: 'at-most' },
    { id: 'start', text: `start with ${many} destinations`, limit: 5, unit: 's', ask: 'at-most' },
    { id: 'event', text: `one event to each of ${many}`, limit: 2, unit: 's', ask: 'at-most' },
  ],
  async run(context) {
    const counts = [1, many];
    const measured = new Map<number, Measured[]>(counts.map((count) => [count, []]));
    for (let round = 1; round <= context.rounds; round += 1) {
      for (const count of counts) {
        const found = await context.attempt(`${count} destinations`, () => measureOnce(context, count, round));
        if (found !== undefined) measured.get(count)?.push(found);
      }
    }
    const of = (count: number, read: (found: Measured) => number): number[] => (measured.get(count) ?? []).map(read);
    const ones = measured.get(1) ?? [];
    const each = of(many, ({ idleBytes }) => idleBytes).map(
      (bytes, round) => (bytes - (ones[round]?.idleBytes ?? Number.NaN)) / (many - 1),
    );
    const row = (count: number): ResultRow => ({
      name: count === 1 ? '1 destination' : `${count} destinations`,
      figures: {
        'first start': plainFigure(
          's',
          'less',
          of(count, ({ firstStartMs }) => firstStartMs / 1000),
        ),
        restart: plainFigure(
          's',
          'less',
          of(count, ({ restartMs }) => restartMs / 1000),
        ),
        'idle memory': plainFigure(
          'bytes',
          'less',
          of(count, ({ idleBytes }) => idleBytes),
        ),
        ...(count === 1 ? {} : { 'memory each': plainFigure('bytes', 'less', each) }),
        'event to all': plainFigure(
          's',
          'less',
          of(count, ({ eventToAllMs }) => eventToAllMs / 1000),
        ),
        'memory after': plainFigure(
          'bytes',
          'less',
          of(count, ({ busyBytes }) => busyBytes),
        ),
      },
    });
    const rows = counts.map(row);
    const figures = rows[1]?.figures ?? {};
    return {
      settings: { destinations: many, note: 'starts include the runtime; a first start makes the consumers as well' },
      rows,
      measured: {
        memory: figures['memory each']?.value ?? Number.NaN,
        // The first one makes the consumers as well: whichever took longer.
        start: Math.max(figures['first start']?.value ?? Number.NaN, figures['restart']?.value ?? Number.NaN),
        event: figures['event to all']?.value ?? Number.NaN,
      },
    };
  },
};

function measureOnce(context: ScenarioContext, count: number, round: number): Promise<Measured> {
  const { progress, seconds } = context;
  return context.stage.scoped(async (stage) => {
    progress.step(`${count} destinations, round ${round}`, 15 + seconds);
    const sink = await startSink(stage);
    const log = await stage.startLog();
    const accountId = benchAccountId;
    const destinations = Array.from({ length: count }, (_, index): BenchDestination => ({
      id: destinationIdOf(index),
      url: sink.urlOf(`${group}/${index}`),
    }));
    await publishAccounts(log.url, [{ accountId, destinations }]);
    const databaseUrl = await stage.createDatabase();
    await migrate(databaseUrl);
    const start = async () => {
      const startedMs = performance.now();
      const pipeline = await startPipeline(stage, log.url, databaseUrl);
      return { pipeline, tookMs: performance.now() - startedMs };
    };
    const first = await start();
    await first.pipeline.stop();
    const { pipeline, tookMs } = await start();
    const idleBytes = await idleMemory(pipeline.pid, seconds);
    progress.note('one event to each');
    const sentMs = performance.now();
    await fillEvents({ natsUrl: log.url, accountId, events: 1 });
    await waitUntil('one event at each destination', eventDeadlineMs, async () => {
      const { paths } = await sink.group(group);
      return paths === count ? undefined : `${paths} of ${count} have it`;
    });
    return {
      firstStartMs: first.tookMs,
      restartMs: tookMs,
      idleBytes,
      eventToAllMs: performance.now() - sentMs,
      busyBytes: await processMemoryBytes(pipeline.pid),
    };
  });
}

/** The least that is resident while nothing happens: garbage of the start is taken out when it is, not when asked. */
async function idleMemory(pid: number, seconds: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let passedMs = 0; passedMs < seconds * 1000; passedMs += 500) {
    await sleep(500);
    least = Math.min(least, await processMemoryBytes(pid));
  }
  return least;
}
