import { PublishError } from '../../../../shared/nats/publish/publisher.ts';

export type StoreScheduleOptions = {
  /** Writes are at least this far apart, in ms. */
  readonly everyMs: number;
  /** Stores what has changed. */
  store(): Promise<void>;
  /** Whether the log can be reached: without it nothing can be acknowledged either. */
  isLogThere(): boolean;
  /** Called with the error of a write, which is repeated. */
  warn(error: unknown): void;
};

const retryMs = 500;
/** The longest that acknowledgements wait for a write, in ms: health is kept beside delivery, not in front of it. */
const waitMaxMs = 2_000;
/**
 * While nothing is delivered, writes are so many times as far apart: what is not stored then is not sent twice for that. An
 * account may have very many destinations that fail.
 */
const failingPause = 4;

/** Resolved once what it stands for is stored, or does not wait any more. */
type Storing = { readonly stored: Promise<void>; resolve(): void };

/**
 * Decides when changes are stored: soon where an acknowledgement waits for it, in a while otherwise. While the bucket
 * takes nothing though the log is there, nothing waits.
 */
export class StoreSchedule {
  readonly #options: StoreScheduleOptions;
  /** What an acknowledgement waits for, and the next write covers. */
  #waiting: Storing | undefined;
  #isDirty = false;
  /** Whether something was delivered, or could not be stored, since the last write began. */
  #isUrgent = false;
  #isBehind = false;
  #isStopped = false;
  #lastMs = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  /** Whether the timer may wait for more changes: no acknowledgement waits for it. */
  #isPatient = false;
  #flushing: Promise<void> | undefined;

  constructor(options: StoreScheduleOptions) {
    this.#options = options;
  }

  /** Whether changes cannot be stored, so that nothing waits for them. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Something has changed: it is stored before long, though nothing waits for it. */
  changed(): void {
    this.#isDirty = true;
    this.#schedule(true);
  }

  /** The next write is due sooner from now on. */
  hurry(): void {
    if (this.#isUrgent) return;
    this.#isUrgent = true;
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#schedule(this.#isPatient);
  }

  /** Settles once all changes so far are stored, or cannot be; undefined when they are. Never rejects. */
  stored(): Promise<void> | undefined {
    if (this.#isBehind || (!this.#isDirty && this.#flushing === undefined)) return undefined;
    this.#waiting ??= this.#newStoring();
    this.#schedule(false);
    return this.#waiting.stored;
  }

  /** Stores what is left. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#flushing;
    await this.#flush();
  }

  #schedule(isPatient: boolean): void {
    if (this.#flushing !== undefined || this.#isStopped) return;
    if (this.#timer !== undefined) {
      if (isPatient || !this.#isPatient) return;
      clearTimeout(this.#timer);
    }
    this.#isPatient = isPatient;
    const everyMs = this.#options.everyMs * (this.#isUrgent ? 1 : failingPause);
    const waitMs = isPatient ? everyMs : Math.max(0, this.#lastMs + everyMs - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#flushing = this.#flush().finally(() => {
        this.#flushing = undefined;
        if (this.#isDirty || this.#waiting !== undefined) this.#schedule(this.#waiting === undefined);
      });
    }, waitMs);
  }

  async #flush(): Promise<void> {
    const { everyMs, store, warn } = this.#options;
    const covered = this.#waiting;
    this.#waiting = undefined;
    try {
      if (this.#isDirty) {
        this.#isDirty = false;
        this.#isUrgent = false;
        this.#lastMs = performance.now();
        await store();
      }
    } catch (error) {
      this.#isDirty = true;
      this.#isUrgent = true;
      if (error instanceof PublishError) this.#goOnWithout(covered);
      else this.#waitAgain(covered);
      this.#lastMs = performance.now() + retryMs - everyMs;
      warn(error);
      return;
    }
    this.#isBehind = false;
    covered?.resolve();
  }

  /** Acknowledgements would wait for as long as the bucket takes nothing. */
  #goOnWithout(covered: Storing | undefined): void {
    this.#isBehind = true;
    covered?.resolve();
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }

  /** What a write was to cover waits for the next one, with what has come since. */
  #waitAgain(covered: Storing | undefined): void {
    if (covered === undefined) return;
    const since = this.#waiting;
    this.#waiting = covered;
    if (since !== undefined) void covered.stored.then(since.resolve);
  }

  #newStoring(): Storing {
    let resolve: () => void = () => undefined;
    const stored = new Promise<void>((settle) => {
      resolve = settle;
    });
    // Without the log acknowledgements do not arrive either.
    const goOn = (): void => {
      if (this.#options.isLogThere() || this.#isStopped) {
        this.#isBehind = true;
        resolve();
      } else late = setTimeout(goOn, waitMaxMs).unref();
    };
    let late = setTimeout(goOn, waitMaxMs).unref();
    return {
      stored,
      resolve: () => {
        clearTimeout(late);
        resolve();
      },
    };
  }
}
