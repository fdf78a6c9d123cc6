import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { countBySubject } from '../../shared/nats/messages/subject-log.ts';
import { streams } from '../../shared/nats/streams/topology.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { HostedActors } from './hosted-actors.ts';

const lookEveryMs = 5_000;

/**
 * Tells dispatchers what waits in their retry logs: a replay, or another instance, may have put it there. One question
 * for all destinations of the thread, so that idle ones cost nothing.
 */
export function watchRetryLog(connection: LogConnection, actors: HostedActors, logger: Logger): { stop(): void } {
  let isLooking = false;
  const look = async (): Promise<void> => {
    for (const subject of (await countBySubject(connection, streams.retry, 'retry.*.*')).keys()) {
      const [, destinationId, tier] = subject.split('.');
      if (destinationId !== undefined) actors.retriesWaiting(destinationId, Number(tier));
    }
  };
  const timer = setInterval(() => {
    if (isLooking || !connection.connected) return;
    isLooking = true;
    look()
      .catch((error: unknown) => logger.warn({ err: error }, 'reading the retry log failed'))
      .finally(() => {
        isLooking = false;
      });
  }, lookEveryMs);
  return { stop: () => clearInterval(timer) };
}
