import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { NatsServer } from '../../shared/embedded/nats/nats-server.ts';
import { eventsOfAccount, eventsSubject } from '../../shared/contracts/subjects.ts';
import { client } from '../../shared/nats/connection/client.ts';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import { readStreamState, readSubjects } from '../../shared/nats/streams/stream-progress.ts';
import { readTopologySettings, topologyEnv } from '../../shared/nats/streams/topology-settings.ts';
import { ensureTopology, streams } from '../../shared/nats/streams/topology.ts';
import { defaultsOf } from '../../shared/runtime/env.ts';
import { migrate } from '../../shared/postgres/migrate.ts';
import { benchAccountId } from '../config/ids.ts';
import { publishAccounts } from '../config/account-document.ts';
import { fillHistory } from '../fill/fill-history.ts';
import { fillIngest } from '../fill/fill-ingest.ts';
import { plainFigure } from '../result/figure.ts';
import type { Figure } from '../result/result.ts';
import type { Scenario } from '../system/scenario.ts';
import { readMetrics } from '../system/metrics-page.ts';
import { peakMemoryBytes, processCpuMs, processMemoryBytes } from '../machine/process-use.ts';
import { startPipeline } from '../system/services.ts';
import type { Stage } from '../system/stage.ts';
import { waitUntil } from '../machine/wait-until.ts';

const gibibyte = 1024 ** 3;
const mebibyte = 1024 ** 2;
const partitions = 4;
const idsPerFrame = 1_000;
const fillEvents = 1_000;
const resolvedDeadlineMs = 300_000;
const duplicateWindowNs = 1e9;

type Start = { readonly name: string; readonly figures: Readonly<Record<string, Figure>>; readonly resolvingS: number };

/** Cost of starting on a log that has a day's events. */
export const startWithHistory: Scenario = {
  name: 'start-with-history',
  isLong: true,
  summary: 'starts of nats-server and of a pipeline on a log with a day of events: time until it resolves, memory',
  bars: [
    { id: 'start', text: 'from the start of the pipeline to resolving', limit: 5, unit: 's', ask: 'at-most' },
    { id: 'memory', text: 'most memory of nats-server', limit: 400 * mebibyte, unit: 'bytes', ask: 'at-most' },
  ],
  run({ stage, isQuick, progress }) {
    // Eight million ids per partition, the maximum that a resolver remembers, so no larger history takes longer to
    // load.
    const ids = isQuick ? 400_000 : 32_000_000;
    const bytes = isQuick ? gibibyte / 16 : 5 * gibibyte;
    const env = {
      LOG_PARTITIONS: String(partitions),
      LOG_EVENTS_BYTES_MAX: String(2 * bytes),
    };
    return stage.scoped(async (own) => {
      const storeDir = await mkdtemp(join(own.folder, 'nats-history-'));
      const databaseUrl = await own.createDatabase();
      await migrate(databaseUrl);
      const openLog = (syncAlways: boolean): Promise<NatsServer> => own.startLog({ storeDir, syncAlways });

      progress.step(`${(bytes / gibibyte).toFixed(1)} GiB of frames`, bytes / (100 * mebibyte));
      const filling = await openLog(false);
      await makeStreams(filling.url, 2 * bytes);
      await fillHistory({ natsUrl: filling.url, accountId: benchAccountId, partitions, ids, idsPerFrame, bytes });
      await publishAccounts(filling.url, [{ accountId: benchAccountId }]);
      await filling.stop();

      let fills = 0;
      const starts: Start[] = [];
      const start = async (name: string, log: NatsServer, logStartS: number): Promise<void> => {
        progress.step(name, 30);
        fills += 1;
        const started = await startResolving({ stage: own, log, databaseUrl, env, fill: fills });
        const { resolvingS, figures } = started;
        const logStart = plainFigure('s', 'less', [logStartS]);
        starts.push({ name, resolvingS, figures: { 'nats-server start': logStart, ...figures } });
      };
      const timed = async (): Promise<readonly [NatsServer, number]> => {
        const startedMs = performance.now();
        const log = await openLog(true);
        await untilServed(log.url);
        return [log, (performance.now() - startedMs) / 1_000];
      };

      const [first, firstS] = await timed();
      await start('without checkpoints', first, firstS);
      await first.stop();
      const [second, secondS] = await timed();
      await start('with checkpoints', second, secondS);
      await second.kill();
      await second.stop();
      const [third, thirdS] = await timed();
      await start('after kill -9 of nats-server', third, thirdS);
      await third.stop();

      const withCheckpoints = starts.filter(({ name }) => name !== 'without checkpoints');
      const most = (of: (start: Start) => number): number => Math.max(...withCheckpoints.map(of));
      return {
        settings: { ids, bytes, partitions, turned: env },
        rows: starts.map(({ name, figures }) => ({ name, figures })),
        measured: {
          start: most(({ resolvingS }) => resolvingS),
          memory: most(({ figures }) => figures['nats-server, most']?.value ?? Number.NaN),
        },
      };
    });
  },
};

async function makeStreams(natsUrl: string, eventsBytesMax: number): Promise<void> {
  const connection = await connectLog({ url: natsUrl, name: 'bench' });
  const usual = readTopologySettings(defaultsOf(topologyEnv));
  await ensureTopology(connection, { ...usual, partitions, eventsBytesMax });
  // A starting server reads the messages of this window. The window is shortened, because the day's history is written
  // within the usual window.
  const { config } = await connection[client].jsm.streams.info(streams.events);
  await connection[client].jsm.streams.update(streams.events, { ...config, duplicate_window: duplicateWindowNs });
  await connection.close();
}

/** Waits until streams are served: nats-server reports ready while it still recovers a large stream. */
async function untilServed(natsUrl: string): Promise<void> {
  const connection = await connectLog({ url: natsUrl, name: 'bench' });
  try {
    for (const stream of [streams.events, streams.ingest]) {
      await waitUntil(`${stream} to be served`, resolvedDeadlineMs, () =>
        readStreamState(connection, stream).then(
          () => undefined,
          (error: unknown) => String(error),
        ),
      );
    }
  } finally {
    await connection.close();
  }
}

type StartOptions = {
  readonly stage: Stage;
  readonly log: NatsServer;
  readonly databaseUrl: string;
  readonly env: Readonly<Record<string, string>>;
  /** Number of this fill of INGEST. The event ids are made from this number, so that fills have different ids. */
  readonly fill: number;
};

/** Starts a pipeline while events wait in every partition, and resolves once all of them are resolved. */
async function startResolving({ stage, log, databaseUrl, env, fill }: StartOptions): Promise<Omit<Start, 'name'>> {
  const options = { natsUrl: log.url, accountId: benchAccountId, partitions, visitors: fillEvents };
  await fillIngest({ ...options, events: fillEvents, from: fill * fillEvents });
  const connection = await connectLog({ url: log.url, name: 'bench' });
  try {
    const framesOfEach = async (): Promise<readonly number[]> => {
      const { messages } = await readSubjects(connection, streams.events, eventsOfAccount(benchAccountId));
      return Array.from({ length: partitions }, (_, index) => messages.get(eventsSubject(benchAccountId, index)) ?? 0);
    };
    const before = await framesOfEach();
    const logCpuBeforeMs = await processCpuMs(log.pid);
    const startedMs = performance.now();
    const starting = startPipeline(stage, log.url, databaseUrl, { env });
    let firstMs: number | undefined;
    await waitUntil('a frame of every partition', resolvedDeadlineMs, async () => {
      const now = await framesOfEach();
      const resolving = now.filter((frames, index) => frames > (before[index] ?? 0)).length;
      if (resolving > 0) firstMs ??= performance.now();
      return resolving === partitions ? undefined : `${resolving} of ${partitions}`;
    });
    const resolvingMs = performance.now();
    const pipeline = await starting;
    const pipelineCpuS = (await processCpuMs(pipeline.pid)) / 1_000;
    const logCpuS = ((await processCpuMs(log.pid)) - logCpuBeforeMs) / 1_000;
    // Threads report once per second.
    const reported = async (): Promise<string | undefined> => {
      const page = await readMetrics(pipeline.metricsUrl);
      const resolved = page.sum('sluice_resolver_resolved_total');
      const waiting = page.sum('sluice_resolver_checkpoint_ids_waiting');
      return resolved >= fillEvents && waiting === 0 ? undefined : `${resolved} resolved, ${waiting} ids waiting`;
    };
    await waitUntil('the resolvers to store their ids', resolvedDeadlineMs, reported);
    const metrics = await readMetrics(pipeline.metricsUrl);
    const seconds = (ms: number): Figure => plainFigure('s', 'less', [(ms - startedMs) / 1_000]);
    const figures = {
      'first partition': seconds(firstMs ?? Number.NaN),
      'all partitions': seconds(resolvingMs),
      'pipeline CPU': plainFigure('s', 'less', [pipelineCpuS]),
      'nats-server CPU': plainFigure('s', 'less', [logCpuS]),
      'frames read': plainFigure('count', 'less', [metrics.sum('sluice_resolver_rebuild_frames')]),
      'ids held': plainFigure('count', 'more', [metrics.sum('sluice_resolver_deduplication_ids')]),
      'nats-server, most': plainFigure('bytes', 'less', [await peakMemoryBytes(log.pid)]),
      'nats-server, then': plainFigure('bytes', 'less', [await processMemoryBytes(log.pid)]),
      pipeline: plainFigure('bytes', 'less', [await processMemoryBytes(pipeline.pid)]),
    };
    await pipeline.stop();
    return { figures, resolvingS: (resolvingMs - startedMs) / 1_000 };
  } finally {
    await connection.close();
  }
}
