import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import { purgeSubject, readNext } from '../../../../shared/nats/messages/subject-log.ts';
import { retrySubject } from '../../../../shared/contracts/subjects.ts';
import { streams } from '../../../../shared/nats/streams/topology.ts';
import { createDueTimes } from './due-times.ts';
import type { DueTimes } from './due-times.ts';
import { retryTierDelaysMs } from './retry-policy.ts';
import { decodeRetryFrame, parkedTier, replayTier } from '../../../../shared/contracts/events/retry-record.ts';
import type { RetryRecord } from '../../../../shared/contracts/events/retry-record.ts';

/**
 * Reads the retry log of one destination as its frames fall due. A tier is first-in first-out and its waits are alike,
 * so its head says when to look again. A frame stays in the log until `finished`, so nothing is lost with the process;
 * the log itself is the place kept: there is no consumer that would cost something while nothing waits.
 */
export type RetryReader = {
  /** Something was stored in a tier. */
  stored(tier: number): void;
  /** Frames are only taken while open; at first it is closed. */
  open(): void;
  close(): void;
  /** Frames taken and not finished. */
  readonly held: number;
  stop(): Promise<void>;
};

export type RetryFrame = {
  /** Of a replay, and not of events that failed. */
  readonly isReplay: boolean;
  readonly records: readonly RetryRecord[];
  readonly bytes: number;
  /** All of it is settled: it may leave the log. */
  finished(): void;
  /** Nothing was done with it: it is read again. */
  abandoned(): void;
};

export type RetryReaderOptions = {
  readonly connection: LogConnection;
  readonly destinationId: string;
  /** Whether parked events are read like those that wait for a time: somebody who keeps no order has them go on. */
  readonly isParkedDue: boolean;
  /** A frame is due and was taken. */
  onFrame(frame: RetryFrame): void;
  onUnreadable(data: Uint8Array, error: unknown): Promise<void>;
  onError(error: unknown): void;
};

// Of one tier. A frame is often a single event, and is held until health has stored its count.
const framesHeldMax = 128;
const bytesHeldMax = 1024 * 1024;
const purgeEveryMs = 1_000;
const errorWaitMs = 1_000;
const replayLingerMs = 10_000;
const replayLookEveryMs = 100;

const tierNumbers: ReadonlySet<number> = new Set([...retryTierDelaysMs.keys(), parkedTier, replayTier]);

type Tier = {
  readonly subject: string;
  readonly isReplay: boolean;
  readonly dueTimes: DueTimes;
  lastFrameMs: number;
  /** Whether the log may hold something at or after `nextSeq`. */
  maybeMore: boolean;
  nextSeq: number;
  /** Frames that were handed back so far: a read that was under way then is void. */
  handBacks: number;
  /** The head of the tier, read and not yet due; when it is, is by the monotonic clock. */
  head: { readonly seq: number; readonly data: Uint8Array; readonly dueAtMs: number } | undefined;
  readonly heldSeqs: Set<number>;
  heldBytes: number;
  /** Finished and not yet removed from the log. */
  readonly finishedSeqs: Set<number>;
  purgedBefore: number;
};

export function createRetryReader(options: RetryReaderOptions): RetryReader {
  return new TierReader(options);
}

class TierReader implements RetryReader {
  readonly #options: RetryReaderOptions;
  /** Made when something is stored in them: at most destinations nothing ever waits. */
  readonly #tiers = new Map<number, Tier>();
  #isOpen = false;
  #stopped = false;
  #working: Promise<void> | undefined;
  #again = false;
  #timer: NodeJS.Timeout | undefined;
  #purgeTimer: NodeJS.Timeout | undefined;

  constructor(options: RetryReaderOptions) {
    this.#options = options;
  }

  get held(): number {
    return [...this.#tiers.values()].reduce((sum, { heldSeqs }) => sum + heldSeqs.size, 0);
  }

  stored(tier: number): void {
    const found = this.#tierOf(tier);
    if (found === undefined || found.maybeMore) return;
    found.maybeMore = true;
    this.#wake();
  }

  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#wake();
  }

  close(): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
  }

  async stop(): Promise<void> {
    this.close();
    this.#stopped = true;
    await this.#working;
    clearTimeout(this.#purgeTimer);
    await this.#purge();
  }

  /** Undefined for a tier this build does not know. */
  #tierOf(number: number): Tier | undefined {
    const known = this.#tiers.get(number);
    if (known !== undefined || !tierNumbers.has(number)) return known;
    if (number === parkedTier && !this.#options.isParkedDue) return undefined;
    const made = newTier(this.#options.destinationId, number);
    this.#tiers.set(number, made);
    return made;
  }

  #wake(): void {
    // Work without a tier would be over before it is noted as under way.
    if (!this.#isOpen || this.#stopped || this.#tiers.size === 0) return;
    if (this.#working !== undefined) {
      this.#again = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#working = this.#work();
  }

  async #work(): Promise<void> {
    let waitMs = Infinity;
    try {
      do {
        this.#again = false;
        waitMs = Infinity;
        for (const tier of this.#tiers.values()) waitMs = Math.min(waitMs, await this.#advance(tier));
      } while (this.#again && this.#isOpen);
    } catch (error) {
      this.#options.onError(error);
      waitMs = errorWaitMs;
    }
    this.#working = undefined;
    if (this.#again) this.#wake();
    else if (waitMs < Infinity && this.#isOpen) this.#timer = setTimeout(() => this.#wake(), waitMs);
  }

  /** Hands out what is due in a tier; returns how long to wait for its head, in ms. */
  async #advance(tier: Tier): Promise<number> {
    while (this.#isOpen && tier.heldSeqs.size < framesHeldMax && tier.heldBytes < bytesHeldMax) {
      if (tier.head === undefined) await this.#readHead(tier);
      if (tier.head === undefined) return this.#lingerMs(tier);
      const waitMs = tier.head.dueAtMs - performance.now();
      if (waitMs > 0) return waitMs;
      const { seq, data } = tier.head;
      tier.head = undefined;
      tier.nextSeq = seq + 1;
      tier.heldSeqs.add(seq);
      tier.heldBytes += data.length;
      tier.lastFrameMs = performance.now();
      this.#handOut(tier, seq, data);
    }
    return Infinity;
  }

  /** A replay goes on writing to its tier for a while, and nobody tells of each frame. */
  #lingerMs(tier: Tier): number {
    if (!tier.isReplay || performance.now() - tier.lastFrameMs > replayLingerMs) return Infinity;
    tier.maybeMore = true;
    return replayLookEveryMs;
  }

  async #readHead(tier: Tier): Promise<void> {
    while (tier.maybeMore) {
      tier.maybeMore = false;
      const { handBacks } = tier;
      const found = await readNext(this.#options.connection, streams.retry, tier.subject, tier.nextSeq);
      // Earlier frames came back meanwhile: what was found is not the head any more.
      if (tier.handBacks !== handBacks) continue;
      if (found === undefined) return;
      tier.maybeMore = true;
      if (tier.heldSeqs.has(found.seq) || tier.finishedSeqs.has(found.seq)) {
        tier.nextSeq = found.seq + 1;
        continue;
      }
      try {
        const notBeforeMs = Math.max(...decodeRetryFrame(found.data).map(({ notBefore }) => notBefore));
        const dueAtMs = tier.dueTimes.dueAtMs(notBeforeMs, { wallMs: Date.now(), monotonicMs: performance.now() });
        tier.head = { seq: found.seq, data: found.data, dueAtMs };
        return;
      } catch (error) {
        await this.#options.onUnreadable(found.data, error);
        if (tier.handBacks === handBacks) tier.nextSeq = found.seq + 1;
      }
    }
  }

  #handOut(tier: Tier, seq: number, data: Uint8Array): void {
    const release = (): void => {
      tier.heldSeqs.delete(seq);
      tier.heldBytes -= data.length;
      this.#wake();
    };
    this.#options.onFrame({
      isReplay: tier.isReplay,
      records: decodeRetryFrame(data),
      bytes: data.length,
      finished: () => {
        tier.finishedSeqs.add(seq);
        release();
        if (!this.#stopped) this.#purgeTimer ??= setTimeout(() => void this.#purge(), purgeEveryMs);
      },
      abandoned: () => {
        // Read it again from the log, and what was taken after it.
        tier.nextSeq = Math.min(tier.nextSeq, seq);
        tier.handBacks += 1;
        tier.head = undefined;
        tier.maybeMore = true;
        release();
      },
    });
  }

  /** Removes what is finished: everything before the oldest frame still held. */
  async #purge(): Promise<void> {
    this.#purgeTimer = undefined;
    for (const tier of this.#tiers.values()) {
      const before = Math.min(tier.nextSeq, ...tier.heldSeqs);
      if (before <= tier.purgedBefore) continue;
      try {
        await purgeSubject(this.#options.connection, streams.retry, tier.subject, before);
        tier.purgedBefore = before;
        for (const seq of tier.finishedSeqs) if (seq < before) tier.finishedSeqs.delete(seq);
      } catch (error) {
        this.#options.onError(error);
      }
    }
  }
}

function newTier(destinationId: string, number: number): Tier {
  return {
    subject: retrySubject(destinationId, number),
    isReplay: number === replayTier,
    // What is replayed is due as soon as it is there.
    dueTimes: createDueTimes(retryTierDelaysMs[number] ?? 0),
    lastFrameMs: -Infinity,
    maybeMore: false,
    nextSeq: 1,
    handBacks: 0,
    head: undefined,
    heldSeqs: new Set(),
    heldBytes: 0,
    finishedSeqs: new Set(),
    purgedBefore: 1,
  };
}
