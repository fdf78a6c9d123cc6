/** What a destination may have in the retry log, in bytes. */
export type RetryLimits = {
  /** Past it nothing is stored any more. */
  readonly bytesMax: number;
  /** Past it no fresh events are taken. At most half of `bytesMax`. */
  readonly waitingMax: number;
  /** Whether accounts together have as much there as they may. */
  readonly isLogFilling: boolean;
};

export type RetryQuotaOptions = {
  /** As things stand. */
  readonly limits: () => RetryLimits;
  /** Bytes of it that are counted elsewhere: parked events, and what is on its way to the log. */
  readonly otherBytes: () => number;
  /** Reads what it has in the log, without what is parked, in bytes. */
  readonly measure: () => Promise<number>;
  readonly counts: Record<'retry_share_pauses', number>;
  /** Called with an error of the log; what failed is done again. */
  readonly warn: (error: unknown) => void;
};

/** A destination that took no fresh events takes them again below this part of what may wait. */
const resumeShare = 0.9;
/** The count goes wrong where another process removes frames: while it seems full the log is asked, in ms. */
const measureEveryMs = 30_000;

/**
 * Counts the bytes one destination has in the retry log, which all accounts have in common. With so much waiting there as may, the
 * destination takes no fresh events: these wait in the log of its account. The rest of its limit is for what is in
 * memory by then, and for the second copy of an event between a failed retry and the removal of its earlier record.
 */
export class RetryQuota {
  readonly #options: RetryQuotaOptions;
  #bytes: number;
  #isFull = false;
  #measuredAtMs = performance.now();
  #isMeasuring = false;
  /** What was stored and removed since the log was asked last, whose answer may or may not have it. */
  #sinceAsked = 0;

  /** `bytes`: what it has now, without what is parked. */
  constructor(options: RetryQuotaOptions, bytes: number) {
    this.#options = options;
    this.#bytes = bytes;
  }

  get bytes(): number {
    return this.#bytes + this.#options.otherBytes();
  }

  /** What it may have in the log. */
  get bytesMax(): number {
    return this.#options.limits().bytesMax;
  }

  stored(bytes: number): void {
    this.#bytes += bytes;
    this.#sinceAsked += bytes;
  }

  removed(bytes: number): void {
    this.#bytes = Math.max(0, this.#bytes - bytes);
    this.#sinceAsked -= bytes;
  }

  /**
   * Whether the log may be given so many bytes more. What takes the place of an earlier record may come even where a new version has
   * made the limit less than what is there already, unless others need the room.
   */
  hasRoom(bytes: number, isReplacement: boolean): boolean {
    const { bytesMax, isLogFilling } = this.#options.limits();
    const hasRoom = this.bytes + bytes <= bytesMax || (isReplacement && !isLogFilling);
    if (!hasRoom) this.#measureWhenDue();
    return hasRoom;
  }

  /** Whether no fresh events are taken, as of the last call of `isFull`. */
  get isPaused(): boolean {
    return this.#isFull;
  }

  /** Whether it has so much that no fresh events are to be taken, were `heldBytes` in memory to come to the log as well. */
  isFull(heldBytes: number): boolean {
    const { waitingMax } = this.#options.limits();
    const { bytes } = this;
    const isFull = bytes > 0 && bytes >= (this.#isFull ? waitingMax * resumeShare : waitingMax);
    if (isFull && !this.#isFull) this.#options.counts.retry_share_pauses += 1;
    this.#isFull = isFull;
    if (isFull) this.#measureWhenDue();
    // However little may wait, one event at a time is taken.
    return isFull || (bytes + heldBytes > 0 && bytes + heldBytes >= waitingMax);
  }

  #measureWhenDue(): void {
    if (performance.now() - this.#measuredAtMs > measureEveryMs) void this.#measure();
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

/** What the retry log holds and has room for, as of the last look at it, in bytes. */
export type RetryUse = {
  /** What all accounts have there. */
  readonly used: number;
  /** Infinity where the log names no limit. */
  readonly capacity: number;
  /** Accounts that have something there. */
  readonly accounts: number;
  /** Destinations of the account's live version. */
  destinationsOf(accountId: string): number;
};

/**
 * What a destination may have in the retry log: an equal part of what its account may, so that an account has no more than its
 * quota however many destinations it has. An account takes fresh events only while the log is less than `all` full,
 * and less of them the fuller it is. What is above `all` is the reserve of those that have little: each account with something
 * there always has an equal part of it, and once the log is fuller than `all`, no more than that.
 */
export function retryLimits(
  accountId: string,
  use: RetryUse,
  { bytesMax, account, all }: { readonly bytesMax: number; readonly account: number; readonly all: number },
): RetryLimits {
  const { capacity, used } = use;
  const quota = capacity * account;
  // One that has nothing there yet is one more.
  const reserved = Math.min(quota, (capacity * (1 - all)) / (use.accounts + 1));
  const free = capacity * all - used;
  const ofDestination = (bytes: number): number =>
    Math.min(bytesMax, bytes / Math.max(1, use.destinationsOf(accountId)));
  return {
    bytesMax: ofDestination(free > 0 ? quota : reserved),
    waitingMax: ofDestination(Math.max(reserved, Math.min(quota, free))) / 2,
    isLogFilling: free <= 0,
  };
}
