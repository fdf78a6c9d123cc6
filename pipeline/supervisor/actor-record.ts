import type { Suspicion } from '../workers/worker/suspicion.ts';
import type { ActorSpec } from '../workers/registry.ts';

export const actorStates = [
  /** No thread runs the actor. */
  'waiting',
  /** A thread was asked to start the actor, which does not run yet. */
  'starting',
  'running',
  /** The actor stops, and will then be started on another thread. */
  'moving',
  'stopping',
  /** The actor failed repeatedly and is not restarted for a long time. */
  'quarantined',
] as const;

export type ActorState = (typeof actorStates)[number];

/** The supervisor's state of one actor. */
export type ActorRecord = {
  readonly actorId: string;
  readonly spec: ActorSpec;
  /** The number that identifies the actor in the black box of its thread. */
  readonly mark: number;
  thread: number | undefined;
  state: ActorState;
  failuresInARow: number;
  suspicion: Suspicion;
  /** The spec with which the actor is started again once it has stopped; undefined if it is not. */
  next: ActorSpec | undefined;
  /** Sequence up to which the actor is to skip its log, until this is sent to it; 0 if it skips nothing. */
  passOverUpTo: number;
  startedMs: number;
  timer: NodeJS.Timeout | undefined;
  /** Called once the actor runs, has failed, or was removed. */
  readonly onFirstOutcome: (() => void)[];
};
