import {
  decodeHealthRecord,
  encodeHealthRecord,
  joinHealth,
  pastHealthKey,
  recentHealthKey,
} from '../../../../shared/contracts/health-record.ts';
import type { HealthRecord, SendingState } from '../../../../shared/contracts/health-record.ts';
import type { WrittenPlace } from '../../../../shared/contracts/destination-position.ts';
import { joinMissed, joinSkipped } from '../../../../shared/contracts/missed-ranges.ts';
import type { MissedRange, SkippedRanges, SkipReason } from '../../../../shared/contracts/missed-ranges.ts';
import type { Bucket } from '../../../../shared/nats/buckets/bucket.ts';
import { PublishError } from '../../../../shared/nats/publish/publisher.ts';
import { HealthWindow, minuteOf } from './health-window.ts';
import type { HealthCount } from './health-window.ts';

export type HealthKeeperOptions = {
  readonly bucket: Bucket;
  readonly destinationId: string;
  readonly instanceId: string;
  /** Writes are at least this far apart, in ms. */
  readonly flushEveryMs: number;
  /** How long what was counted is kept by the hour. */
  readonly hoursKept: number;
  /** What is settled. */
  readonly place: () => WrittenPlace;
  /** Stores what is settled, once what was counted of it is stored. */
  readonly storePlace: (place: WrittenPlace) => Promise<void>;
  /** How sending goes now; undefined before it has begun. */
  readonly sending: () => SendingState | undefined;
  /** Whether the log can be reached: as long as it cannot, nothing can be acknowledged either. */
  readonly isLogThere: () => boolean;
  /** Called when an entry could not be written; it is written again. */
  readonly warn: (error: unknown) => void;
};

const hourMs = 3_600_000;
const retryMs = 500;
/** The longest that acknowledgements wait for a write, in ms: health is kept beside delivery, not in front of it. */
const waitMaxMs = 2_000;
/**
 * While nothing is delivered, writes are so many times as far apart: what is not recorded then is not sent twice for that. Of
 * destinations that fail, an account may have very many.
 */
const failingPause = 4;
/** Minutes of the recent entry before they are moved to that of the past. */
const recentMinutesMax = 30;

/** How many events, and when they were resolved: at one time, or between two. */
export type Skipped = { readonly fromMs: number; readonly toMs?: number; readonly events: number };

/** Resolved once what it stands for is stored, or is not waited for any more. */
type Storing = { readonly stored: Promise<void>; resolve(): void };

/**
 * The health window of one destination, stored before what it counts is acknowledged, as long as it can be stored. While
 * the bucket takes nothing though the log is there, nothing waits: a process that dies then repeats what it had not recorded.
 */
export class HealthKeeper {
  readonly #options: HealthKeeperOptions;
  readonly #key: string;
  readonly #window: HealthWindow;
  /** Minutes before it are in the entry of the past, and have not changed since. */
  #pastUntil: number;
  /** What a caller waits for, and the next write covers. */
  #waiting: Storing | undefined;
  #isDirty = false;
  /** Whether something was delivered, or could not be recorded, since the last write began. */
  #hasDelivered = false;
  /** Whether what was recorded could not be stored, so that nothing waits for it until it is. */
  #isBehind = false;
  #isAccessRefused: boolean;
  #skipped: SkippedRanges;
  /** What earlier builds recorded as skipped. */
  #missed: readonly MissedRange[];
  #isStopped = false;
  #lastFlushMs = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  /** Whether the timer may wait for more: no ack waits for it. */
  #isPatient = false;
  #flushing: Promise<void> | undefined;

  /** Restores the window this instance stored last and goes on from there. */
  static async open(options: HealthKeeperOptions): Promise<HealthKeeper> {
    const { bucket, destinationId, instanceId } = options;
    const key = recentHealthKey(destinationId, instanceId);
    const [recent, past] = await Promise.all([bucket.get(key), bucket.get(pastHealthKey(key))]);
    return new HealthKeeper(options, key, decodeHealthRecord(recent?.value), decodeHealthRecord(past?.value));
  }

  private constructor(options: HealthKeeperOptions, key: string, recent = nothing, past?: HealthRecord) {
    this.#options = options;
    this.#key = key;
    this.#window = new HealthWindow(options.hoursKept, joinHealth(past, recent));
    this.#isAccessRefused = recent.accessRefused === true;
    this.#skipped = recent.skipped ?? {};
    this.#missed = recent.missed ?? [];
    const lastOfPast = past?.minutes.at(-1)?.[0] ?? -Infinity;
    this.#pastUntil = Math.min(recent.minutes[0]?.[0] ?? Infinity, lastOfPast + 1);
  }

  record(count: HealthCount, events: number): void {
    const nowMs = Date.now();
    this.#window.record(count, events, nowMs);
    // Only a clock that was set back counts in the past.
    this.#pastUntil = Math.min(this.#pastUntil, minuteOf(nowMs));
    if (count === 'succeeded') this.#noteDelivered();
    this.moved();
  }

  /** Events were skipped that were resolved at a time, or between two times, in ms since the epoch. */
  skipped(reason: SkipReason, { fromMs, toMs = fromMs, events }: Skipped): void {
    this.#skipped = joinSkipped([this.#skipped, { [reason]: [[fromMs, Math.max(fromMs, toMs) + 1, events]] }]);
    this.moved();
  }

  /** Whether the destination refuses its key or token: known again after a start, until it has been asked. */
  setAccessRefused(isRefused: boolean): void {
    if (isRefused === this.#isAccessRefused) return;
    this.#isAccessRefused = isRefused;
    this.moved();
  }

  /** The place has changed: it is stored before long, though nothing waits for it. */
  moved(): void {
    this.#isDirty = true;
    this.#schedule(true);
  }

  /** Whether it cannot store what it has recorded. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Settles once everything recorded so far is stored, or cannot be; undefined when it is. Never rejects. */
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

  /** The next write is due sooner from now on. */
  #noteDelivered(): void {
    if (this.#hasDelivered) return;
    this.#hasDelivered = true;
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#schedule(this.#isPatient);
  }

  #schedule(isPatient: boolean): void {
    if (this.#flushing !== undefined || this.#isStopped) return;
    if (this.#timer !== undefined) {
      if (isPatient || !this.#isPatient) return;
      clearTimeout(this.#timer);
    }
    this.#isPatient = isPatient;
    const everyMs = this.#options.flushEveryMs * (this.#hasDelivered ? 1 : failingPause);
    const waitMs = isPatient ? everyMs : Math.max(0, this.#lastFlushMs + everyMs - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#flushing = this.#flush().finally(() => {
        this.#flushing = undefined;
        if (this.#isDirty || this.#waiting !== undefined) this.#schedule(this.#waiting === undefined);
      });
    }, waitMs);
  }

  async #flush(): Promise<void> {
    const { flushEveryMs, warn } = this.#options;
    const covered = this.#waiting;
    this.#waiting = undefined;
    try {
      if (this.#isDirty) {
        this.#isDirty = false;
        this.#hasDelivered = false;
        this.#lastFlushMs = performance.now();
        await this.#store();
      }
    } catch (error) {
      this.#isDirty = true;
      this.#hasDelivered = true;
      if (error instanceof PublishError) this.#goOnWithout(covered);
      else this.#waitAgain(covered);
      this.#lastFlushMs = performance.now() + retryMs - flushEveryMs;
      warn(error);
      return;
    }
    this.#isBehind = false;
    covered?.resolve();
  }

  /** Callers that wait for the store continue: they would wait for as long as the bucket accepts nothing. */
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
    // Without the log acknowledgements are lost too.
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

  async #store(): Promise<void> {
    const { bucket } = this.#options;
    const nowMs = Date.now();
    const { minutes } = this.#window.minutesFrom(this.#pastUntil, nowMs);
    // What leaves the minutes of the recent entry is in the hours of the past by then.
    if (minutes.length > recentMinutesMax || this.#window.hoursUntil > this.#pastUntil) {
      const before = this.#pastUntil;
      this.#pastUntil = minuteOf(nowMs);
      try {
        await bucket.put(pastHealthKey(this.#key), encodeHealthRecord(this.#window.toRecord(nowMs)));
      } catch (error) {
        this.#pastUntil = Math.min(this.#pastUntil, before);
        throw error;
      }
    }
    const record = this.#window.minutesFrom(this.#pastUntil, Date.now());
    const sinceMs = nowMs - this.#options.hoursKept * hourMs;
    this.#missed = joinMissed(this.#missed, sinceMs);
    this.#skipped = joinSkipped([this.#skipped], sinceMs);
    const missed = this.#missed.length === 0 ? {} : { missed: this.#missed };
    const skipped = Object.keys(this.#skipped).length === 0 ? {} : { skipped: this.#skipped };
    const refused = this.#isAccessRefused ? ({ accessRefused: true } as const) : {};
    const state = this.#options.sending();
    const sending = state === undefined ? {} : { sending: state };
    const place = this.#options.place();
    try {
      await bucket.put(this.#key, encodeHealthRecord({ ...record, ...refused, ...missed, ...skipped, ...sending }));
    } finally {
      await this.#options.storePlace(place);
    }
  }
}

const nothing: HealthRecord = { v: 1, minutes: [], lastDispatchedAt: null };
