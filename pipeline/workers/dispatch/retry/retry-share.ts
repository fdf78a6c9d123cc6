/** What a destination has in the retry log, and what it may have there. */
export type RetryShareOptions = {
  /** Bytes it may have, as things stand. */
  readonly bytesMax: () => number;
  /** Bytes of it that somebody else keeps account of: parked events. */
  readonly parkedBytes: () => number;
  /** Reads what it has in the log, without what is parked, in bytes. */
  readonly measure: () => Promise<number>;
  readonly counts: Record<'retry_share_pauses', number>;
  /** Told of an error of the log; what failed is done again. */
  readonly warn: (error: unknown) => void;
};

/** A destination that was over its share takes fresh events again below this part of it. */
const resumeShare = 0.9;
/** What is counted here goes wrong where somebody else removes frames: while it seems full the log is asked, in ms. */
const measureEveryMs = 30_000;

/**
 * Keeps account of the bytes one destination has in the retry log, which all share. One that has its share takes no fresh
 * events until its retries have made room: these wait in the log of its account, as if the destination were down.
 */
export class RetryShare {
  readonly #options: RetryShareOptions;
  #bytes: number;
  #isFull = false;
  #measuredAtMs = performance.now();
  #isMeasuring = false;
  /** What was stored and finished since the log was asked last, whose answer may or may not have it. */
  #sinceAsked = 0;

  /** `bytes`: what it has now, without what is parked. */
  constructor(options: RetryShareOptions, bytes: number) {
    this.#options = options;
    this.#bytes = bytes;
  }

  get bytes(): number {
    return this.#bytes + this.#options.parkedBytes();
  }

  stored(bytes: number): void {
    this.#bytes += bytes;
    this.#sinceAsked += bytes;
  }

  finished(bytes: number): void {
    this.#bytes = Math.max(0, this.#bytes - bytes);
    this.#sinceAsked -= bytes;
  }

  /** Whether no fresh events are taken, as things were looked at last. */
  get isPaused(): boolean {
    return this.#isFull;
  }

  /** Whether it has so much that no fresh events are to be taken. */
  isFull(): boolean {
    const limit = this.#options.bytesMax();
    const isFull = this.bytes > (this.#isFull ? limit * resumeShare : limit);
    if (isFull && !this.#isFull) this.#options.counts.retry_share_pauses += 1;
    this.#isFull = isFull;
    if (isFull && performance.now() - this.#measuredAtMs > measureEveryMs) void this.#measure();
    return isFull;
  }

  async #measure(): Promise<void> {
    if (this.#isMeasuring) return;
    this.#isMeasuring = true;
    this.#sinceAsked = 0;
    try {
      const bytes = await this.#options.measure();
      this.#bytes = Math.max(0, bytes + Math.min(0, this.#sinceAsked));
    } catch (error) {
      this.#options.warn(error);
    }
    this.#measuredAtMs = performance.now();
    this.#isMeasuring = false;
  }
}

/** What the retry log has room for, as it was last looked at, in bytes. */
export type RetryUse = {
  /** What all have there. */
  readonly used: number;
  readonly capacity: number;
  /** About what one account has there. */
  usedBy(accountId: string): number;
};

/** Every destination may have as much, whoever has filled the log: it has to be able to put off what it has begun. */
export const retryBytesMin = 1024 ** 2;

/**
 * What a destination may have in the retry log: no more than its own limit, than its account's share leaves, and than the log
 * leaves. Each grows only into what is still free, so that those that take most stop before the log is full.
 */
export function retryBytesMax(
  accountId: string,
  use: RetryUse | undefined,
  { bytesMax, account, all }: { readonly bytesMax: number; readonly account: number; readonly all: number },
): number {
  if (use === undefined) return bytesMax;
  const ofAccount = use.capacity * account - use.usedBy(accountId);
  const ofAll = use.capacity * all - use.used;
  return Math.max(retryBytesMin, Math.min(bytesMax, ofAccount, ofAll));
}
