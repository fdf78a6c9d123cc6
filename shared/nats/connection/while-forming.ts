import { setTimeout as delay } from 'node:timers/promises';
import { ErrorCode, NatsError } from 'nats';
import { isNotFound, serverErrorCode, serverErrors } from './server-error.ts';

const formingDeadlineMs = 30_000;
const pollMs = 200;
const unanswered: string = ErrorCode.Timeout;
// "no suitable peers for placement": the leader does not know every node yet. "temporarily unavailable": there is no
// leader yet.
const forming: ReadonlySet<number | undefined> = new Set([
  serverErrors.noSuitablePeers,
  serverErrors.temporarilyUnavailable,
]);

/**
 * Repeats `work` while it fails because a cluster is still creating a stream or bucket: its nodes learn of a stream one
 * after the other, and the stream has no leader yet. Throws the last error after half a minute. `work` must be safe to
 * repeat.
 */
export async function whileForming<Result>(work: () => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + formingDeadlineMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isForming(error) || performance.now() > deadline) throw error;
      await delay(pollMs);
    }
  }
}

const isForming = (error: unknown): boolean =>
  isNotFound(error) || forming.has(serverErrorCode(error)) || (error instanceof NatsError && error.code === unanswered);
