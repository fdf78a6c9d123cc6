import { migrate } from '../../shared/postgres/migrate.ts';
import { benchAccountId, destinationIdOf } from '../config/ids.ts';
import { publishAccounts } from '../config/account-document.ts';
import { fillEvents } from '../fill/fill-events.ts';
import { figureOf, plainFigure, ratioFigure } from '../result/figure.ts';
import type { Bar, Figure, ResultRow } from '../result/result.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import { timesOf } from '../system/scenario.ts';
import { measureArrivals } from '../sink/measure-arrivals.ts';
import type { Arrived } from '../sink/measure-arrivals.ts';
import { startSink } from '../sink/sink.ts';
import { peakMemoryBytes, processFamilyCpuMs } from '../machine/process-use.ts';
import { gcFigures } from '../system/gc-watch.ts';
import { startPipeline, whilePaused } from '../system/services.ts';

const destinationCounts: readonly number[] = [1, 10, 100, 1_000];
const batchSizes = [1, 100] as const;
const connections = 64;
/**
 * Expected rates by batch size, for one destination and for many. They size the backlog, so that it outlasts the
 * measurement.
 */
const deliveriesPerS = { 1: 24_000, 100: 150_000 } as const;
const deliveriesPerSOfMany = { 1: 24_000, 100: 400_000 } as const;

/** Processes whose CPU time is measured. */
const processes = ['sender', 'log', 'PostgreSQL', 'sink'] as const;

type BatchSize = (typeof batchSizes)[number];
type Variant = { readonly name: string; readonly batchSize: BatchSize; readonly destinations: number };
type Measured = { readonly arrived: Arrived; readonly memoryBytes: number };

const nameOf = (subject: string, batchSize: BatchSize): string =>
  `${subject}, ${batchSize === 1 ? 'one a request' : `${batchSize} a request`}`;
const countOf = (destinations: number): string => `${destinations} destination${destinations === 1 ? '' : 's'}`;

/** A bar: the minimum rate as a fraction of bare undici's rate. */
type Ask = { readonly batchSize: BatchSize; readonly destinations: number; readonly limit: number };
const asked: readonly Ask[] = [
  { batchSize: 1, destinations: 1, limit: 0.8 },
  { batchSize: 1, destinations: 10, limit: 0.8 },
  { batchSize: 1, destinations: 1_000, limit: 0.5 },
  { batchSize: 100, destinations: 1, limit: 0.4 },
];
const barIdOf = ({ batchSize, destinations }: Ask): string =>
  batchSize === 1 && destinations === 1 ? 'of-undici' : `of-undici-${batchSize}-${destinations}`;

const bareOf = (batchSize: BatchSize): Variant => ({
  name: nameOf('bare undici', batchSize),
  batchSize,
  destinations: 0,
});
const variantsOf = (counts: readonly number[]): readonly Variant[] =>
  batchSizes.flatMap((batchSize) => [
    bareOf(batchSize),
    ...counts.map((destinations) => ({ name: nameOf(countOf(destinations), batchSize), batchSize, destinations })),
  ]);

/**
 * Deliveries per second from a backlog to 1 to 1,000 destinations of one account, compared with a bare HTTP client.
 *
 * The build 8f40e7d7, which decided once, at admission, delivers faster: this build reaches 0.87 of its rate with 10
 * destinations and 0.78 with 1,000. Profiles show no single cause. Consent at each attempt, counts by name and rule,
 * and the recorder of outcomes (239 → 555 ms of 11 s) add up.
 */
export const dispatch: Scenario = {
  name: 'dispatch',
  summary:
    'deliveries per second from a backlog, to 1 to 1,000 destinations, with one event per request and in batches of 100; --destinations selects some',
  bars: [
    ...asked.map((ask): Bar => ({
      id: barIdOf(ask),
      text: `rate against bare undici, ${nameOf(countOf(ask.destinations), ask.batchSize)}`,
      limit: ask.limit,
      unit: 'ratio',
      ask: 'at-least',
    })),
    { id: 'batched', text: 'events delivered in batches of 100', limit: 100_000, unit: 'per_s', ask: 'at-least' },
  ],
  async run(context) {
    const counts = context.destinations.length === 0 ? destinationCounts : context.destinations;
    const variants = variantsOf(counts);
    const measured = new Map<string, Measured[]>(variants.map(({ name }) => [name, []]));
    for (let round = 1; round <= context.rounds; round += 1) {
      for (const variant of variants) {
        const found = await context.attempt(variant.name, () => measureOnce(context, variant, round));
        if (found !== undefined) measured.get(variant.name)?.push(found);
      }
    }
    const ratesOf = (name: string): number[] => (measured.get(name) ?? []).map(({ arrived }) => arrived.rate.value);
    const rows = variants.map(({ name, batchSize }): ResultRow => {
      const rounds = measured.get(name) ?? [];
      const cpuFigure = (process: string): Figure =>
        plainFigure(
          'ns',
          'less',
          rounds.map(({ arrived }) => arrived.cpuNs[process] ?? Number.NaN),
        );
      return {
        name,
        figures: {
          'events/s': figureOf(
            'per_s',
            'more',
            rounds.map(({ arrived }) => arrived.rate),
          ),
          ...gcFigures(rounds.map(({ arrived }) => arrived.gc)),
          'of undici': ratioFigure(ratesOf(name), ratesOf(bareOf(batchSize).name)),
          memory: plainFigure(
            'bytes',
            'less',
            rounds.map(({ memoryBytes }) => memoryBytes),
          ),
          ...Object.fromEntries(processes.map((process) => [`${process}, an event`, cpuFigure(process)])),
        },
        series: (rounds[0]?.arrived.series ?? []).filter(({ chart }) => chart === 'throughput'),
      };
    });
    const figure = (batchSize: BatchSize, destinations: number, name: string): number =>
      rows.find((row) => row.name === nameOf(countOf(destinations), batchSize))?.figures[name]?.value ?? Number.NaN;
    const judged = asked.filter(({ destinations }) => counts.includes(destinations));
    return {
      settings: { connections, syncInterval: 'always' },
      rows,
      measured: {
        ...Object.fromEntries(
          judged.map((ask) => [barIdOf(ask), figure(ask.batchSize, ask.destinations, 'of undici')]),
        ),
        ...(counts.includes(1) ? { batched: figure(100, 1, 'events/s') } : {}),
      },
    };
  },
};

/** Returns a function that reads, by name, the CPU time in ms that processes and their children have used so far. */
function cpuMsOf(
  pids: Partial<Record<(typeof processes)[number], number>>,
): () => Promise<Readonly<Record<string, number>>> {
  return async () =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(pids).map(async ([name, pid]) => [name, await processFamilyCpuMs(pid)] as const),
      ),
    );
}

function measureOnce(context: ScenarioContext, variant: Variant, round: number): Promise<Measured> {
  const { progress, seconds, warmUpSeconds } = context;
  const { batchSize, destinations } = variant;
  const group = 'in';
  const label = `${variant.name}, round ${round}`;
  return context.stage.scoped(async (stage) => {
    const sink = await startSink(stage);
    const arrivals = {
      sink,
      group,
      ...timesOf(context),
      onWindow: (perS: number) => progress.note(`${Math.round(perS)}/s`),
    };
    if (destinations === 0) {
      progress.step(label, seconds + warmUpSeconds);
      const args = [sink.urlOf(`${group}/bare`), String(connections), String(batchSize)];
      const { pid } = await stage.startChild({ name: 'undici', entry: 'bench/peers/undici-dispatch-main', args });
      const cpuMs = cpuMsOf({ sender: pid, sink: sink.pid });
      return { arrived: await measureArrivals({ ...arrivals, cpuMs }), memoryBytes: await peakMemoryBytes(pid) };
    }
    progress.step(`${variant.name}: filling the log`, 15);
    const log = await stage.startLog();
    const accountId = benchAccountId;
    await publishAccounts(log.url, [
      {
        accountId,
        destinations: Array.from({ length: destinations }, (_, index) => ({
          id: destinationIdOf(index),
          url: sink.urlOf(`${group}/${index}`),
          batchSize,
        })),
      },
    ]);
    const perS = (destinations === 1 ? deliveriesPerS : deliveriesPerSOfMany)[batchSize];
    const wanted = perS * (seconds + warmUpSeconds + 1);
    const events = Math.max(100, Math.ceil(wanted / destinations));
    const databaseUrl = await stage.createDatabase();
    await migrate(databaseUrl);
    const pipeline = await startPipeline(stage, log.url, databaseUrl, {
      env: { DISPATCH_CONCURRENCY: String(connections) },
    });
    await whilePaused(pipeline.pid, () => fillEvents({ natsUrl: log.url, accountId, events }));
    progress.step(label, seconds + warmUpSeconds);
    const cpuMs = cpuMsOf({
      sender: pipeline.pid,
      log: log.pid,
      PostgreSQL: await stage.postgresPid(),
      sink: sink.pid,
    });
    const eventsMax = events * destinations;
    const arrived = await measureArrivals({ ...arrivals, services: [pipeline], eventsMax, cpuMs });
    return { arrived, memoryBytes: await peakMemoryBytes(pipeline.pid) };
  });
}
