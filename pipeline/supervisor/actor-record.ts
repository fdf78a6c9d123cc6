import type { Suspicion } from '../workers/worker/suspicion.ts';
import type { ActorSpec } from '../workers/registry.ts';

export const actorStates = [
  /** No thread runs it. */
  'waiting',
  /** Its thread was asked to start it; it does not run yet. */
  'starting',
  'running',
  /** Stopping, to be started on another thread. */
  'moving',
  'stopping',
  /** It failed repeatedly and is not restarted for a long time. */
  'quarantined',
] as const;

export type ActorState = (typeof actorStates)[number];

/** The supervisor's state of one actor. */
export type ActorRecord = {
  readonly actorId: string;
  readonly spec: ActorSpec;
  /** Its mark in the black box of its thread. */
  readonly mark: number;
  thread: number | undefined;
  state: ActorState;
  failuresInARow: number;
  suspicion: Suspicion;
  /** Sequence up to which the actor skips its log; 0: none. Sent at each start, since it may have failed before. */
  passOverUpTo: number;
  startedMs: number;
  timer: NodeJS.Timeout | undefined;
  /** Called once the actor runs, has failed, or was removed. */
  readonly onFirstOutcome: (() => void)[];
};
