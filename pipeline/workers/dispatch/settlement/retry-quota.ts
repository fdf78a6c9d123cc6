/** A destination's limits in the retry log, in bytes. */
export type RetryLimits = {
  /** Above this nothing is stored. */
  readonly bytesMax: number;
  /** Above this no fresh events are taken. At most half of `bytesMax`. */
  readonly waitingMax: number;
  /** Whether all accounts together have reached their limit in the log. */
  readonly isLogFilling: boolean;
};

export type RetryQuotaOptions = {
  /** The present limits. */
  readonly limits: () => RetryLimits;
  /**
   * Bytes of the destination that are counted elsewhere: parked events, and records that are being written to the log.
   */
  readonly otherBytes: () => number;
  /** Measures the destination's bytes in the log, without parked events. */
  readonly measure: () => Promise<number>;
  readonly counts: Record<'retry_share_pauses', number>;
  /** Called with an error of the log; the failed read is repeated. */
  readonly warn: (error: unknown) => void;
};

/** Once a destination has stopped taking fresh events, it takes them again below this fraction of the limit. */
const resumeShare = 0.9;
/** Interval of measurements while the quota seems full, in ms: another process may have removed frames. */
const measureEveryMs = 30_000;

/**
 * Counts the bytes of one destination in the retry log, which all accounts share. Above `waitingMax` the destination
 * takes no fresh events, which then wait in its account's log. The rest of its quota is for events that are in memory
 * at that time, and for the second copy of an event that exists after a failed retry until the earlier record is
 * removed.
 */
export class RetryQuota {
  readonly #options: RetryQuotaOptions;
  #bytes: number;
  #isFull = false;
  #measuredAtMs = performance.now();
  #isMeasuring = false;
  /** Bytes stored minus bytes removed since the last measurement began. The measurement may include some of them. */
  #sinceAsked = 0;

  /** `bytes`: the destination's present bytes, without parked events. */
  constructor(options: RetryQuotaOptions, bytes: number) {
    this.#options = options;
    this.#bytes = bytes;
  }

  get bytes(): number {
    return this.#bytes + this.#options.otherBytes();
  }

  /** The destination's limit in the log. */
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
   * Whether this many more bytes may be stored. A record that replaces an earlier one may exceed the limit, which a new
   * version may have lowered, but not while all accounts together have reached their limit.
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

  /** Whether no fresh events may be taken. `heldBytes`: bytes of events in memory that may also have to be stored. */
  isFull(heldBytes: number): boolean {
    const { waitingMax } = this.#options.limits();
    const { bytes } = this;
    const isFull = bytes > 0 && bytes >= (this.#isFull ? waitingMax * resumeShare : waitingMax);
    if (isFull && !this.#isFull) this.#options.counts.retry_share_pauses += 1;
    this.#isFull = isFull;
    if (isFull) this.#measureWhenDue();
    // If nothing is stored or in memory, one event is taken, however low the limit is.
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

/** Use and capacity of the retry log at the last measurement, in bytes. */
export type RetryUse = {
  /** Bytes that all accounts together use. */
  readonly used: number;
  /** Infinity if the log has no limit. */
  readonly capacity: number;
  /** Number of accounts with bytes in the log. */
  readonly accounts: number;
  /** Number of destinations of the account's live version. */
  destinationsOf(accountId: string): number;
};

/**
 * The limits of a destination in the retry log: an equal part of its account's limit, so that an account keeps its
 * quota however many destinations it has. The fuller the log, the fewer fresh events are taken. The room above the
 * fraction `all` is a reserve, of which each account with data in the log has an equal part; once the log is fuller
 * than `all`, an account has no more than that part.
 */
export function retryLimits(
  accountId: string,
  use: RetryUse,
  { bytesMax, account, all }: { readonly bytesMax: number; readonly account: number; readonly all: number },
): RetryLimits {
  const { capacity, used } = use;
  const quota = capacity * account;
  // Divided by one account more, since this account may have no bytes in the log yet.
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
