import type { MessagePort } from 'node:worker_threads';
import { threadId } from 'node:worker_threads';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Logger } from '../../shared/runtime/logger.ts';
import { createLogger } from '../../shared/runtime/logger.ts';
import { every } from '../../shared/runtime/every.ts';
import { createBlackBox } from './black-box.ts';
import { ownTaskId } from '../../shared/runtime/cpu-use.ts';
import type { HostResources } from './host-resources.ts';
import { openHostResources } from './host-resources.ts';
import type { HostSettings } from './host-settings.ts';
import { HostedActors } from './hosted-actors.ts';
import type { Command, Report } from './messages.ts';
import { retriesOfAll } from '../../shared/contracts/subjects.ts';
import { readSubjects } from '../../shared/nats/streams/stream-progress.ts';
import { streams } from '../../shared/nats/streams/topology.ts';
import { poolFigures } from '../../shared/postgres/database-metrics.ts';

export type HostTask = {
  readonly port: MessagePort;
  readonly blackBox: SharedArrayBuffer;
  readonly settings: HostSettings;
};

/** Deadline for closing connections, in ms. */
const closingMs = 800;

/**
 * The task that a pool thread runs as long as it lives: owns the actors placed on the thread, and exchanges messages
 * with the supervisor through its port. Resolves after `shutdown`. Rejects when the connection to the log is closed
 * permanently, which ends the thread's actors.
 */
export async function runHost({ port, blackBox, settings }: HostTask): Promise<void> {
  const logger = createLogger('pipeline', settings.logLevel).child({ thread: settings.thread });
  const report = (message: Report): void => port.postMessage(message);
  const resources = await openHostResources(settings, logger);
  const actors = new HostedActors({ resources, settings, logger, report, blackBox: createBlackBox(blackBox) });
  const watch = watchRetryLog(resources, actors, logger);
  const forgetting = forgetOldChanges(resources, logger);
  const reporting = startReporting(resources, actors, report);
  try {
    await new Promise<void>((resolve, reject) => {
      const handle = (command: Command): void => {
        switch (command.kind) {
          case 'configure':
            actors.configure(command);
            return;
          case 'start':
            actors.start(command);
            return;
          case 'pass-over':
            actors.passOver(command.actorId, command.upToSeq);
            return;
          case 'stop':
            actors.stop(command.actorId, command.deadlineMs);
            return;
          case 'shutdown':
            actors.stopAll(command.deadlineMs).then(resolve, reject);
        }
      };
      port.on('message', handle);
      void resources.connection.closed.then((error) =>
        reject(error ?? new Error('the connection to the log is closed')),
      );
      report({ kind: 'ready', threadId, taskId: ownTaskId() });
    });
  } finally {
    reporting.stop();
    watch.stop();
    forgetting.stop();
    await resources.close(closingMs);
    port.close();
  }
}

const lookEveryMs = 5_000;

/**
 * Reports to dispatchers which events wait in their retry logs (a replay or another instance may have put them there)
 * and how full the retry log is. One request covers all destinations of the thread, so that idle destinations cost
 * nothing.
 */
function watchRetryLog(
  { connection, retryUses: retryUse }: Pick<HostResources, 'connection' | 'retryUses'>,
  actors: HostedActors,
  logger: Logger,
): { stop(): void } {
  const look = async (): Promise<void> => {
    const { state, messages } = await readSubjects(connection, streams.retry, retriesOfAll);
    retryUse.look(state, messages);
    for (const subject of messages.keys()) {
      const [, destinationId, tier] = subject.split('.');
      if (destinationId !== undefined) actors.retriesWaiting(destinationId, Number(tier));
    }
  };
  const looking = every(lookEveryMs, () => {
    if (!connection.connected) return;
    return look().catch((error: unknown) => logger.warn({ err: error }, 'reading the retry log failed'));
  });
  return { stop: () => void looking.stop() };
}

const forgetEveryMs = 60_000;

/** The thread that reads visitor changes also deletes old ones, so no separate job is needed. */
function forgetOldChanges({ visitors }: HostResources, logger: Logger): { stop(): void } {
  const forgetting = every(forgetEveryMs, () =>
    visitors
      .forgetOldChanges()
      .catch((error: unknown) => logger.warn({ err: error }, 'deleting old visitor changes failed')),
  );
  return { stop: () => void forgetting.stop() };
}

const everyMs = 1_000;
const nanosecondsPerMs = 1e6;
/** Interval at which the delay of the event loop is sampled, in ms; each sample includes this interval. */
const loopDelayEveryMs = 100;
/**
 * If less than this share of a loop's time is busy, its delay is not measured, since measuring would wake the loop up
 * more often than its work does.
 */
const measuredFrom = 0.05;

/** Reports the counters of the thread and its actors to the supervisor each second. A thread that hangs reports nothing. */
function startReporting(
  resources: HostResources,
  actors: HostedActors,
  report: (message: Report) => void,
): { stop(): void } {
  const delay = monitorEventLoopDelay({ resolution: loopDelayEveryMs });
  const lateMs = (nanoseconds: number): number => Math.max(0, nanoseconds / nanosecondsPerMs - loopDelayEveryMs);
  let usage = performance.eventLoopUtilization();
  const reporting = every(everyMs, () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, usage);
    usage = now;
    report({
      kind: 'stats',
      actors: actors.changedFigures(),
      thread: {
        heapUsedBytes: process.memoryUsage().heapUsed,
        utilization,
        delayP99Ms: lateMs(delay.percentile(99)),
        delayMaxMs: lateMs(delay.max),
        isLogConnected: resources.connection.connected,
        visitorCache: resources.visitors.cache,
        outcomes: resources.outcomes.stats(),
        database: poolFigures(resources.pool),
      },
      timings: resources.timings.snapshot(),
    });
    delay.reset();
    if (utilization < measuredFrom) delay.disable();
    else delay.enable();
  });
  return {
    stop() {
      void reporting.stop();
      delay.disable();
    },
  };
}
