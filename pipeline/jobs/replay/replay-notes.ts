import type { Bucket } from '../../../shared/nats/buckets/bucket.ts';
import { decodeReplay, encodeReplay, replayKey } from '../../../shared/contracts/replay-job.ts';
import type { ReplayJob } from '../../../shared/contracts/replay-job.ts';

/** The progress of a running replay, recorded in the bucket, where other processes see it. */
export type ReplayNotes = {
  readonly job: ReplayJob;
  /**
   * Aborted once this instance no longer runs the replay: it is cancelled, taken over, or its destination is not live.
   */
  readonly ended: AbortSignal;
  /** Records progress; throws ReplayEndedError when this instance no longer runs the replay. */
  put(progress: Partial<ReplayJob>): Promise<void>;
  stop(): void;
};

export type ReplayNotesOptions = {
  readonly bucket: Bucket;
  readonly instanceId: string;
  /** Whether the destination is enabled in the live version of the account. */
  isLive(): boolean;
};

/** The replay now has another owner, or none. */
export class ReplayEndedError extends Error {
  readonly code = 'replay_ended';
}

/** A heartbeat is written when the last write is this old, in ms: instances take over a replay without heartbeats. */
const beatEveryMs = 1_000;

/**
 * Records the progress of a claimed replay. Also writes heartbeats, because a replay may wait for hours for room in the
 * retry log.
 */
export function createReplayNotes(options: ReplayNotesOptions, claimed: ReplayJob, revision: number): ReplayNotes {
  const notes = new BucketNotes(options, claimed, revision);
  notes.start();
  return notes;
}

class BucketNotes implements ReplayNotes {
  readonly #options: ReplayNotesOptions;
  readonly #key: string;
  readonly #abort = new AbortController();
  #job: ReplayJob;
  #revision: number;
  #notedAtMs = performance.now();
  #turn: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ReplayNotesOptions, claimed: ReplayJob, revision: number) {
    this.#options = options;
    this.#key = replayKey(claimed.destinationId, claimed.id);
    this.#job = claimed;
    this.#revision = revision;
  }

  get job(): ReplayJob {
    return this.#job;
  }

  get ended(): AbortSignal {
    return this.#abort.signal;
  }

  start(): void {
    this.#timer = setInterval(() => {
      // Errors are ignored: if the log does not answer, the replay's own work fails too.
      if (performance.now() - this.#notedAtMs >= beatEveryMs) this.put({}).catch(() => undefined);
    }, beatEveryMs / 3);
  }

  put(progress: Partial<ReplayJob>): Promise<void> {
    const written = this.#turn.then(() => this.#write(progress));
    this.#turn = written.catch(() => undefined);
    return written;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #write(progress: Partial<ReplayJob>): Promise<void> {
    this.ended.throwIfAborted();
    const { bucket, isLive } = this.#options;
    const job: ReplayJob = { ...this.#job, ...progress, updatedAtMs: Date.now() };
    const isPaused = job.state === 'running' && !isLive();
    const next = isPaused ? paused(job) : job;
    const stored = await bucket.putIfUnchanged(this.#key, encodeReplay(next), this.#revision);
    if (stored === undefined) await this.#confirmCancel(job);
    if (stored === undefined || isPaused) {
      this.#abort.abort(new ReplayEndedError('this process no longer runs the replay'));
      this.ended.throwIfAborted();
      return;
    }
    this.#job = job;
    this.#revision = stored;
    this.#notedAtMs = performance.now();
  }

  /**
   * Call when another process changed the entry. If the change requests a cancellation, records the replay as
   * cancelled, with its progress.
   */
  async #confirmCancel(job: ReplayJob): Promise<void> {
    const { bucket, instanceId } = this.#options;
    const entry = await bucket.get(this.#key);
    const other = decodeReplay(entry?.value);
    if (entry === undefined || other?.state !== 'cancelling' || other.owner !== instanceId) return;
    const cancelled: ReplayJob = { ...job, state: 'cancelled' };
    await bucket.putIfUnchanged(this.#key, encodeReplay(cancelled), entry.revision);
  }
}

/** The job of a replay that waits until its destination is live again. */
function paused(job: ReplayJob): ReplayJob {
  const { owner: _, ...rest } = job;
  return { ...rest, state: 'waiting' };
}
