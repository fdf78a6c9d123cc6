import { availableParallelism } from 'node:os';
import { randomBytes } from 'node:crypto';
import { plainFigure, ratioFigure } from '../result/figure.ts';
import type { ResultRow } from '../result/result.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import { accountIdOf, benchAccountId, destinationIdOf } from '../config/ids.ts';
import type { BenchAccount } from '../config/account-document.ts';
import { publishAccounts } from '../config/account-document.ts';
import { trackBody } from '../load/bodies.ts';
import { runLoad } from '../load/load-process.ts';
import { assertAllAccepted } from '../load/load-result.ts';
import { assertNoneRefused, startGateway, startPipeline, whilePaused } from '../system/services.ts';
import { migrate } from '../../shared/postgres/migrate.ts';
import { fillIngest } from '../fill/fill-ingest.ts';
import { readMetrics } from '../system/metrics-page.ts';
import { waitUntil } from '../machine/wait-until.ts';
import { fillEvents } from '../fill/fill-events.ts';
import { startSink } from '../sink/sink.ts';
import { processCpuMs } from '../machine/process-use.ts';

const gatewayCounts = [1, 2] as const;
/** Two gateways, two generators, the log and what is left: with fewer, the second gateway takes the first one's cores. */
const coresMin = 6;
const otherCounts = [0, 999] as const;
const shapes = [
  { partitions: 1, threads: 1 },
  { partitions: 2, threads: 1 },
  { partitions: 2, threads: 2 },
  { partitions: 4, threads: 1 },
  { partitions: 4, threads: 2 },
  { partitions: 4, threads: 4 },
] as const;

const keyOf = ({ partitions, threads }: (typeof shapes)[number]): string =>
  `resolving, ${partitions} partition${partitions === 1 ? '' : 's'}, ${threads} thread${threads === 1 ? '' : 's'}`;

/** What more processes, partitions and threads give, and what destinations of other accounts cost. */
export const scaling: Scenario = {
  name: 'scaling',
  summary: '1 and 2 gateways; 1, 2 and 4 partitions and threads; an event among 1 and 1,000 destinations',
  bars: [
    { id: 'gateways', text: '2 gateways against 1, where cores are free', limit: 1.7, unit: 'ratio', ask: 'at-least' },
    { id: 'cost', text: 'CPU of an event among 1,000 against 1', limit: 1.15, unit: 'ratio', ask: 'at-most' },
  ],
  async run(context) {
    const gateways = new Map<number, number[]>(gatewayCounts.map((count) => [count, []]));
    const resolving = new Map<string, number[]>(shapes.map((shape) => [keyOf(shape), []]));
    const costs = new Map<number, EventCost[]>(otherCounts.map((count) => [count, []]));
    for (let round = 1; round <= context.rounds; round += 1) {
      for (const count of gatewayCounts) {
        const rate = await context.attempt(`${count} gateways`, () => gatewayRate(context, count));
        if (rate !== undefined) gateways.get(count)?.push(rate);
      }
      for (const shape of shapes) {
        const rate = await context.attempt(`resolving, ${keyOf(shape)}`, () => resolveRate(context, shape));
        if (rate !== undefined) resolving.get(keyOf(shape))?.push(rate);
      }
      for (const count of otherCounts) {
        const found = await context.attempt(`beside ${count} others`, () => otherDestinationsCost(context, count));
        if (found !== undefined) costs.get(count)?.push(found);
      }
    }
    const oneGateway = gateways.get(1) ?? [];
    const oneThread = resolving.get(keyOf(shapes[0])) ?? [];
    const cost = (others: number): number[] => (costs.get(others) ?? []).map(({ cpuMicros }) => cpuMicros);
    const cores = availableParallelism();
    const rows: ResultRow[] = [
      ...gatewayCounts.map((count) => ({
        name: `tracks, ${count} gateway${count === 1 ? '' : 's'}`,
        figures: {
          'events/s': plainFigure('per_s', 'more', gateways.get(count) ?? []),
          'of the least': ratioFigure(gateways.get(count) ?? [], oneGateway),
        },
        note: count > 1 && cores < coresMin ? `${cores} cores: load, log and gateways share them` : '',
      })),
      ...shapes.map((shape) => ({
        name: keyOf(shape),
        figures: {
          'events/s': plainFigure('per_s', 'more', resolving.get(keyOf(shape)) ?? []),
          'of the least': ratioFigure(resolving.get(keyOf(shape)) ?? [], oneThread),
        },
      })),
      ...otherCounts.map((others) => ({
        name: `delivering among ${others + 1} destination${others === 0 ? '' : 's'}`,
        figures: {
          'events/s': plainFigure(
            'per_s',
            'more',
            (costs.get(others) ?? []).map(({ perS }) => perS),
          ),
          'CPU an event': plainFigure(
            'ms',
            'less',
            cost(others).map((micros) => micros / 1000),
          ),
        },
      })),
    ];
    return {
      settings: { cores, connectionsPerLoad: 128, loadProcesses: 2 },
      rows,
      measured: {
        ...(cores < coresMin ? {} : { gateways: ratioFigure(gateways.get(2) ?? [], oneGateway).value }),
        cost: ratioFigure(cost(999), cost(0)).value,
      },
    };
  },
};

const loadProcesses = 2;
const connectionsEach = 128;

/** Tracks a second that gateways on one port take together. */
function gatewayRate(context: ScenarioContext, gateways: number): Promise<number> {
  const { seconds, warmUpSeconds, progress } = context;
  return context.stage.scoped(async (stage) => {
    progress.step(`${gateways} gateway${gateways === 1 ? '' : 's'}`, seconds + warmUpSeconds + gateways);
    const token = `src_live_${randomBytes(16).toString('hex')}`;
    const log = await stage.startLog();
    await publishAccounts(log.url, [{ accountId: benchAccountId, token }]);
    const env = { GATEWAY_REUSE_PORT: 'true' };
    const first = await startGateway(stage, log.url, { env });
    for (let count = 1; count < gateways; count += 1) await startGateway(stage, log.url, { env, port: first.port });
    const order = {
      url: `${first.url}/api/v1/track`,
      bodies: [trackBody(token)],
      connections: connectionsEach,
      // No longer, steady or not: all of them have to begin together.
      warmUpMs: warmUpSeconds * 1000,
      measureMs: seconds * 1000,
    };
    const loads = await Promise.all(Array.from({ length: loadProcesses }, () => runLoad(stage, order)));
    for (const load of loads) assertAllAccepted(`${gateways} gateways`, load);
    return loads.reduce((sum, { answersPerS }) => sum + answersPerS, 0);
  });
}

/** What a backlog is sized for. */
const resolvedPerS = 40_000;
const visitors = 20_000;
type Shape = { readonly partitions: number; readonly threads: number };

/** Events a second that resolvers work off a full ingest log, visitors and output included. */
function resolveRate(context: ScenarioContext, { partitions, threads }: Shape): Promise<number> {
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

type EventCost = { readonly perS: number; readonly cpuMicros: number };

const group = 'in';
const eventsPerS = 8_000;
const warmUpRounds = 3;
const warmUpEvents = 40_000;
const drainDeadlineMs = 300_000;

/** What the delivery of an event costs the pipeline while other accounts have destinations that get nothing. */
function otherDestinationsCost(context: ScenarioContext, others: number): Promise<EventCost> {
  const { seconds, progress } = context;
  return context.stage.scoped(async (stage) => {
    progress.step(`${others} destinations of other accounts`, seconds * 2 + 30);
    const sink = await startSink(stage);
    const log = await stage.startLog();
    const account = (index: number): BenchAccount => ({
      accountId: accountIdOf(index),
      destinations: [{ id: destinationIdOf(index), url: sink.urlOf(`${group}/${index}`) }],
    });
    await publishAccounts(
      log.url,
      Array.from({ length: others + 1 }, (_, index) => account(index)),
    );
    const databaseUrl = await stage.createDatabase();
    await migrate(databaseUrl);
    const pipeline = await startPipeline(stage, log.url, databaseUrl);
    const deliver = async (events: number): Promise<EventCost> => {
      const begin = (await sink.group(group)).events;
      await whilePaused(pipeline.pid, () => fillEvents({ natsUrl: log.url, accountId: accountIdOf(0), events }));
      const [startedMs, cpuMs] = [performance.now(), await processCpuMs(pipeline.pid)];
      await waitUntil('the events to be delivered', drainDeadlineMs, async () => {
        const arrived = (await sink.group(group)).events - begin;
        return arrived >= events ? undefined : `${arrived} of ${events}`;
      });
      const spentMs = (await processCpuMs(pipeline.pid)) - cpuMs;
      return {
        perS: (events * 1000) / (performance.now() - startedMs),
        cpuMicros: (spentMs * 1000) / events,
      };
    };
    // As long as it takes until the code is compiled and the heaps have their size: among 1,000 destinations that is later.
    for (let round = 0; round < warmUpRounds; round += 1) await deliver(warmUpEvents);
    return deliver(eventsPerS * seconds);
  });
}
