import type { ThreadTimings } from '../workers/dispatch/sending/delivery-timings.ts';
import type { CacheFigures } from '../../shared/visitors/visitor-cache.ts';
import type { PoolFigures } from '../../shared/postgres/database-metrics.ts';
import type { WireError } from './wire-error.ts';

/** An actor as the supervisor orders it. */
export type ActorSpec =
  | { readonly kind: 'resolver'; readonly partition: number }
  /** Keeps the view of recent events; there is one. */
  | { readonly kind: 'recorder' }
  /** Counts the results of an account's experiments. */
  | {
      readonly kind: 'results';
      readonly accountId: string;
      /** When the version that orders it went live, in ms since the epoch. */
      readonly publishedAtMs: number;
    }
  | {
      readonly kind: 'dispatcher';
      readonly accountId: string;
      readonly destinationId: string;
      /** When the version that orders it went live, in ms since the epoch. */
      readonly publishedAtMs: number;
    };

/** What the supervisor tells a thread's host. Documents cross as bytes. */
export type Command =
  | {
      readonly kind: 'configure';
      readonly accountId: string;
      readonly revision: number;
      /** JSON of the account's configuration; undefined when it was removed. */
      readonly document: Uint8Array | undefined;
    }
  /** `mark` is what the actor notes in the thread's black box. */
  | { readonly kind: 'start'; readonly actorId: string; readonly spec: ActorSpec; readonly mark: number }
  | { readonly kind: 'stop'; readonly actorId: string; readonly deadlineMs: number }
  | { readonly kind: 'shutdown'; readonly deadlineMs: number };

export type ActorStats = Readonly<Record<string, number>>;

/** What a thread's host tells the supervisor. */
export type Report =
  /** At work; `threadId` is Node's own number of the thread. */
  | { readonly kind: 'ready'; readonly threadId: number }
  | { readonly kind: 'configured'; readonly accountId: string; readonly revision: number }
  | { readonly kind: 'started'; readonly actorId: string }
  /** With its last stats; without an error it was told to stop. */
  | { readonly kind: 'ended'; readonly actorId: string; readonly stats: ActorStats; readonly error?: WireError }
  | {
      readonly kind: 'stats';
      /** Those whose stats have changed since the last report. */
      readonly actors: Readonly<Record<string, ActorStats>>;
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
  readonly visitorCache: Pick<CacheFigures, 'visitors' | 'bytes' | 'bytesMax'>;
  readonly database: PoolFigures;
};

export function actorIdOf(spec: ActorSpec): string {
  switch (spec.kind) {
    case 'resolver':
      return `resolver-${spec.partition}`;
    case 'recorder':
      return 'recorder-0';
    case 'results':
      return `results-${spec.accountId}`;
    case 'dispatcher':
      return dispatcherIdOf(spec.destinationId);
  }
}

export const dispatcherIdOf = (destinationId: string): string => `dispatcher-${destinationId}`;

/** Under these names a thread reports its recorder of outcomes and its cache of visitors, which are no actors. */
export const outcomesIdOf = (thread: number): string => `outcomes-${thread}`;
export const cacheIdOf = (thread: number): string => `cache-${thread}`;
