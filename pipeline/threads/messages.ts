import { isLogUnavailable } from '../../shared/nats/connection/server-error.ts';
import { ConsumerTakenError } from '../../shared/nats/consume/consumers.ts';
import { CheckpointsTakenOverError } from '../workers/resolve/checkpoint-writer.ts';
import { OtherWriterError } from '../workers/resolve/partition-writer.ts';
import type { ThreadTimings } from '../workers/dispatch/sending/delivery-timings.ts';
import type { CacheFigures } from '../../shared/visitors/visitor-cache.ts';
import type { PoolFigures } from '../../shared/postgres/database-metrics.ts';
import type { OutcomeStats } from '../workers/recent/outcome-stats.ts';
import type { Suspicion } from '../workers/worker/suspicion.ts';
import type { ActorFigures, ActorSpec } from '../workers/registry.ts';

/** Messages from the supervisor to a thread's host. Configuration documents are sent as bytes. */
export type Command =
  | {
      readonly kind: 'configure';
      readonly accountId: string;
      readonly revision: number;
      /** JSON of the account's configuration; undefined when it was removed. */
      readonly document: Uint8Array | undefined;
    }
  /** `mark` identifies the actor in the thread's black box; `suspicion` is what the black box showed about its frames. */
  | {
      readonly kind: 'start';
      readonly actorId: string;
      readonly spec: ActorSpec;
      readonly mark: number;
      readonly suspicion: Suspicion;
    }
  /** Makes the actor skip its log up to a sequence: these messages waited too long or take too much space. */
  | { readonly kind: 'pass-over'; readonly actorId: string; readonly upToSeq: number }
  | { readonly kind: 'stop'; readonly actorId: string; readonly deadlineMs: number }
  | { readonly kind: 'shutdown'; readonly deadlineMs: number };

/** Messages from a thread's host to the supervisor. */
export type Report =
  /** The thread runs; `threadId` is Node's id of the thread, `taskId` the operating system's, where available. */
  | { readonly kind: 'ready'; readonly threadId: number; readonly taskId: number | undefined }
  | { readonly kind: 'configured'; readonly accountId: string; readonly revision: number }
  | { readonly kind: 'started'; readonly actorId: string }
  /** Has the actor's last counters unless it never ran, and an error unless it stopped on command. */
  | { readonly kind: 'ended'; readonly actorId: string; readonly last?: ActorFigures; readonly error?: WireError }
  | {
      readonly kind: 'stats';
      /** Actors whose figures have changed since the last report. */
      readonly actors: readonly ActorFigures[];
      readonly thread: ThreadFigures;
      readonly timings: ThreadTimings;
    };

/** Health of a thread. */
export type ThreadFigures = {
  readonly heapUsedBytes: number;
  /** Fraction of the last second in which the event loop was busy, 0 to 1. */
  readonly utilization: number;
  /** Delay of the event loop in the last second, in ms: 99th percentile, and maximum below. */
  readonly delayP99Ms: number;
  readonly delayMaxMs: number;
  readonly isLogConnected: boolean;
  readonly visitorCache: CacheFigures;
  readonly outcomes: OutcomeStats;
  readonly database: PoolFigures;
};

/** An error in the form in which threads send it to each other. */
export type WireError = {
  readonly code: string;
  readonly message: string;
  readonly stack: string;
  /** The log was not available, or another process has taken over the work: the actor is not at fault. */
  readonly isBlameless?: true;
};

export function toWireError(error: unknown): WireError {
  if (!(error instanceof Error)) return { code: 'unknown', message: String(error), stack: '' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  const blame = isLogUnavailable(error) || isTakeover(error) ? { isBlameless: true as const } : {};
  return { code, message: `${error.message}${cause}`, stack: error.stack ?? '', ...blame };
}

const isTakeover = (error: Error): boolean =>
  error instanceof ConsumerTakenError ||
  error instanceof CheckpointsTakenOverError ||
  error instanceof OtherWriterError;
