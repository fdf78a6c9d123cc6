import { setTimeout as wait } from 'node:timers/promises';
import { isQuarantined, isWatched } from '../../worker/suspicion.ts';
import type { Suspicion } from '../../worker/suspicion.ts';
import type { FrameInFlight } from './frames-in-flight.ts';
import type { Inbox } from './inbox.ts';
import { Isolation, aloneWithinMs } from './isolation.ts';

export type QuarantineOptions = {
  readonly suspicion: Suspicion;
  readonly inbox: Pick<Inbox, 'isEmpty' | 'hasLogFrames' | 'isInFlight'>;
  /** Maximum time of a request, in ms. */
  readonly requestMs: number;
  /** Whether frames of the retry log are taken. */
  readonly mayTakeRetries: () => boolean;
  readonly isRunning: () => boolean;
  /** Called before a frame of the retry log is opened alone: must hand back frames that wait for room in that log. */
  readonly makeRoom: () => void;
};

/** Number of frames of the account's log that are opened together. */
const framesPerTake = 16;
/** Interval at which a suspected frame is checked, in ms. */
const checkEveryMs = 20;

/**
 * Opens the frames of a source so that another death of the thread shows which frame caused it. Frames suspected of an
 * earlier death are opened one at a time, and with nothing else in flight unless waiting for that takes longer than a
 * request.
 */
export class Quarantine {
  readonly #options: QuarantineOptions;
  readonly #isolation: Isolation;
  /** Whether the next frames of the account's log are suspected. */
  #isWatching: boolean;

  constructor(options: QuarantineOptions) {
    const { inbox, requestMs, mayTakeRetries: mayTake, suspicion } = options;
    this.#options = options;
    this.#isolation = new Isolation({ inbox, patienceMs: requestMs + aloneWithinMs, mayTake });
    this.#isWatching = suspicion.log.watched !== undefined;
  }

  /**
   * Whether a frame of the account's log is quarantined: threads died twice while they worked on it, so its events
   * become dead letters.
   */
  holdsFrame(seq: number): boolean {
    return isQuarantined(this.#options.suspicion.log, seq);
  }

  /** Whether a frame of the retry log, or one of its lines, is quarantined. */
  holdsRetry(seq: number, line?: number): boolean {
    return isQuarantined(this.#options.suspicion.retry, seq, line);
  }

  /** Whether a frame of the retry log is opened alone. */
  isSuspected(seq: number): boolean {
    return isWatched(this.#options.suspicion.retry, seq);
  }

  /** Number of frames of the account's log that may be opened together. */
  get framesAtOnce(): number {
    return this.#isWatching ? 1 : framesPerTake;
  }

  /** Call when frames of the account's log up to this sequence were opened. */
  opened(newestSeq: number): void {
    this.#isWatching &&= newestSeq <= (this.#options.suspicion.log.watched?.to ?? 0);
  }

  /** Opens frames of the account's log, once no frame is isolated. */
  openFrames(open: () => void): Promise<void> {
    return this.#isolation.beside(open);
  }

  /**
   * Waits until a suspected frame of the account's log is done. Also waits for retries in flight, but only for a short
   * time.
   */
  async untilFramesMayOpen(): Promise<void> {
    const { inbox, isRunning } = this.#options;
    const sinceMs = performance.now();
    const isDone = (): boolean => inbox.isEmpty || (!inbox.hasLogFrames && performance.now() - sinceMs > aloneWithinMs);
    while (this.#isWatching && !isDone() && isRunning()) await wait(checkEveryMs);
  }

  /** Opens a frame of the retry log, or an event of that frame. If the frame is suspected, settles when it is done. */
  openRetry(seq: number, open: () => FrameInFlight | undefined): Promise<void> {
    if (!this.isSuspected(seq)) return this.#isolation.beside(open);
    this.#options.makeRoom();
    return this.#isolation.alone(open);
  }
}
