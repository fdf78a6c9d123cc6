import { PublishError } from '../../../../shared/nats/publish/publisher.ts';

export type StoreScheduleOptions = {
  /** Minimum time between two writes, in ms. */
  readonly everyMs: number;
  /** Stores the changes. */
  store(): Promise<void>;
  /** Whether the log can be reached: if not, nothing can be acknowledged either. */
  isLogThere(): boolean;
  /** Called with the error of a write, which is repeated. */
  warn(error: unknown): void;
};

const retryMs = 500;
/** Acknowledgements wait at most this long for a write, in ms: delivery does not depend on health. */
const waitMaxMs = 2_000;
/**
 * While nothing is delivered, the time between writes is longer by this factor: counts that are not written then cause
 * no repeated delivery. An account may have very many failing destinations.
 */
const failingPause = 4;

/**
 * Changes to be stored. `stored` resolves once they are stored, or once no acknowledgement needs to wait for them any
 * more.
 */
type Storing = { readonly stored: Promise<void>; resolve(): void };

/**
 * Decides when changes are stored: soon if an acknowledgement waits for them, otherwise later. If the bucket refuses
 * writes although the log is reachable, acknowledgements do not wait for changes to be stored.
 */
export class StoreSchedule {
  readonly #options: StoreScheduleOptions;
  /** Resolves waiting acknowledgements once the next write has stored their changes. */
  #waiting: Storing | undefined;
  #isDirty = false;
  /** Whether something was delivered, or could not be stored, since the last write began. */
  #isUrgent = false;
  #isBehind = false;
  #isStopped = false;
  #lastMs = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  /** Whether the write may wait for more changes, because no acknowledgement waits for it. */
  #isPatient = false;
  #flushing: Promise<void> | undefined;

  constructor(options: StoreScheduleOptions) {
    this.#options = options;
  }

  /** Whether changes could not be stored, so that acknowledgements do not wait for them. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Call when something has changed: it is stored soon, even if no acknowledgement waits for it. */
  changed(): void {
    this.#isDirty = true;
    this.#schedule(true);
  }

  /** From now on, the next write is due sooner. */
  hurry(): void {
    if (this.#isUrgent) return;
    this.#isUrgent = true;
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#schedule(this.#isPatient);
  }

  /**
   * Settles once all changes so far are stored, or cannot be stored; undefined if there is nothing to wait for.
   * Never rejects.
   */
  stored(): Promise<void> | undefined {
    if (this.#isBehind || (!this.#isDirty && this.#flushing === undefined)) return undefined;
    this.#waiting ??= this.#newStoring();
    this.#schedule(false);
    return this.#waiting.stored;
  }

  /** Stores what is not stored yet, and ends the writes. */
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

  /**
   * Lets acknowledgements continue without the write; otherwise they would wait as long as the bucket refuses writes.
   */
  #goOnWithout(covered: Storing | undefined): void {
    this.#isBehind = true;
    covered?.resolve();
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }

  /**
   * Lets the acknowledgements that waited for a failed write wait for the next one, together with those that came
   * later.
   */
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
    // While the log cannot be reached, acknowledgements would not arrive either, so they continue to wait.
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
