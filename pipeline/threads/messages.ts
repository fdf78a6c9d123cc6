import { isLogUnavailable } from '../../shared/nats/connection/server-error.ts';
import type { ThreadTimings } from '../workers/dispatch/sending/delivery-timings.ts';
import type { CacheFigures } from '../../shared/visitors/visitor-cache.ts';
import type { PoolFigures } from '../../shared/postgres/database-metrics.ts';
import type { OutcomeStats } from '../workers/recent/outcome-stats.ts';
import type { Suspicion } from '../workers/worker/suspicion.ts';
import type { ActorFigures, ActorSpec } from '../workers/registry.ts';

/** What the supervisor tells a thread's host. Documents cross as bytes. */
export type Command =
  | {
      readonly kind: 'configure';
      readonly accountId: string;
      readonly revision: number;
      /** JSON of the account's configuration; undefined when it was removed. */
      readonly document: Uint8Array | undefined;
    }
  /** `mark` is what the actor notes in the thread's black box; `suspicion` what is known of its frames from there. */
  | {
      readonly kind: 'start';
      readonly actorId: string;
      readonly spec: ActorSpec;
      readonly mark: number;
      readonly suspicion: Suspicion;
    }
  /** What its log has up to a sequence has waited for too long, or takes too much room. */
  | { readonly kind: 'pass-over'; readonly actorId: string; readonly upToSeq: number }
  | { readonly kind: 'stop'; readonly actorId: string; readonly deadlineMs: number }
  | { readonly kind: 'shutdown'; readonly deadlineMs: number };

/** What a thread's host tells the supervisor. */
export type Report =
  /** At work; `threadId` is Node's own number of the thread, `taskId` that of the operating system, where it tells. */
  | { readonly kind: 'ready'; readonly threadId: number; readonly taskId: number | undefined }
  | { readonly kind: 'configured'; readonly accountId: string; readonly revision: number }
  | { readonly kind: 'started'; readonly actorId: string }
  /** With what it counted last, unless it never ran; without an error it was told to stop. */
  | { readonly kind: 'ended'; readonly actorId: string; readonly last?: ActorFigures; readonly error?: WireError }
  | {
      readonly kind: 'stats';
      /** Those whose figures have changed since the last report. */
      readonly actors: readonly ActorFigures[];
      readonly thread: ThreadFigures;
      readonly timings: ThreadTimings;
    };

/** How a thread does. */
export type ThreadFigures = {
  readonly heapUsedBytes: number;
  /** Share of the last second the event loop was busy, 0 to 1. */
  readonly utilization: number;
  /** How late the event loop was in the last second. */
  readonly delayP99Ms: number;
  readonly delayMaxMs: number;
  readonly isLogConnected: boolean;
  readonly visitorCache: CacheFigures;
  readonly outcomes: OutcomeStats;
  readonly database: PoolFigures;
};

/** An error as it crosses from one thread to another. */
export type WireError = {
  readonly code: string;
  readonly message: string;
  readonly stack: string;
  /** The log could not be asked just then: see isLogUnavailable. */
  readonly isOfLog?: true;
};

export function toWireError(error: unknown): WireError {
  if (!(error instanceof Error)) return { code: 'unknown', message: String(error), stack: '' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  const ofLog = isLogUnavailable(error) ? { isOfLog: true as const } : {};
  return { code, message: `${error.message}${cause}`, stack: error.stack ?? '', ...ofLog };
}
