import type { Suspicion } from '../workers/worker/suspicion.ts';
import type { ActorSpec } from '../workers/registry.ts';

export const actorStates = [
  /** No thread has it. */
  'waiting',
  /** Ordered on its thread, not yet at work. */
  'starting',
  'running',
  /** Told to stop, to be started on another thread. */
  'moving',
  'stopping',
  /** It failed over and over; left alone for a long while. */
  'quarantined',
] as const;

export type ActorState = (typeof actorStates)[number];

/** What the supervisor knows of one actor. */
export type ActorRecord = {
  readonly actorId: string;
  readonly spec: ActorSpec;
  /** What it notes in the black box of its thread. */
  readonly mark: number;
  thread: number | undefined;
  state: ActorState;
  failuresInARow: number;
  suspicion: Suspicion;
  /** Up to where it was to pass over its log; 0 for nothing. Sent again each time it starts: it may have failed before it did. */
  passOverUpTo: number;
  startedMs: number;
  timer: NodeJS.Timeout | undefined;
  /** Called once it runs, or has failed, or is gone. */
  readonly onFirstOutcome: (() => void)[];
};
