import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { poolFigures } from '../../shared/postgres/database-metrics.ts';
import type { HostResources } from './host-resources.ts';
import type { HostedActors } from './hosted-actors.ts';
import type { Report } from './messages.ts';

const everyMs = 1_000;
const nanosecondsPerMs = 1e6;
/** How often the delay is measured, in ms; what is measured contains it. */
const measureEveryMs = 10;

/** Tells the supervisor each second what the thread and its actors have counted. A thread that hangs tells nothing. */
export function startReporting(
  resources: HostResources,
  actors: HostedActors,
  report: (message: Report) => void,
): { stop(): void } {
  const delay = monitorEventLoopDelay({ resolution: measureEveryMs });
  const lateMs = (nanoseconds: number): number => Math.max(0, nanoseconds / nanosecondsPerMs - measureEveryMs);
  delay.enable();
  let usage = performance.eventLoopUtilization();
  const timer = setInterval(() => {
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
  }, everyMs);
  return {
    stop() {
      clearInterval(timer);
      delay.disable();
    },
  };
}
