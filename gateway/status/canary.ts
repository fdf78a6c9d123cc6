import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { jetStreamFailure } from '../../shared/nats/connection/server-error.ts';
import { PublishError, publish } from '../../shared/nats/publish/publisher.ts';
import { canarySubject } from '../../shared/contracts/subjects.ts';
import { every } from '../../shared/runtime/every.ts';

export type CanarySettings = {
  readonly instanceId: string;
  /** Part of the canaries' message ids, unique to this process. */
  readonly writerId: string;
  readonly everyMs: number;
  readonly timeoutMs: number;
};

export type Canary = {
  /** Why the log would not store an event now; undefined if a recent publish was acknowledged. */
  problem(nowMs: number): string | undefined;
  stop(): void;
};

const freshForPeriods = 2.5;

/**
 * Publishes to the log at intervals, because only a stored message proves that the log stores. A broker that hangs or
 * whose disk is full still reports itself healthy.
 */
export function startCanary(connection: LogConnection, settings: CanarySettings, onAlive: () => void): Canary {
  const freshForMs = settings.everyMs * freshForPeriods + settings.timeoutMs;
  let storedAtMs = Number.NEGATIVE_INFINITY;
  let failure = 'not tried yet';
  let published = 0;
  const run = async (): Promise<void> => {
    published += 1;
    const msgId = `${settings.writerId}-canary-${published}`;
    try {
      const text = Buffer.from(new Date().toISOString());
      await publish(connection, canarySubject(settings.instanceId), text, { msgId, timeoutMs: settings.timeoutMs });
      storedAtMs = performance.now();
      onAlive();
    } catch (error) {
      failure = failureOf(error);
      // After a failed publish the log counts as not storing at once; a publish that is not answered yet changes
      // nothing.
      storedAtMs = Number.NEGATIVE_INFINITY;
    }
  };
  const runs = every(settings.everyMs, run, { atOnce: true });
  return {
    problem(nowMs) {
      return nowMs - storedAtMs <= freshForMs ? undefined : `a canary message was not stored: ${failure}`;
    },
    stop: () => void runs.stop(),
  };
}

/** If the server refused the message, the server's text; for any other failure, its reason, such as `timeout`. */
function failureOf(error: unknown): string {
  if (!(error instanceof PublishError)) return 'refused';
  const isRefusal = error.reason === 'full' || error.reason === 'refused';
  return isRefusal && error.cause !== undefined ? `the log refuses: ${jetStreamFailure(error.cause)}` : error.reason;
}
