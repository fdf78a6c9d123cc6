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
import type { MovedTo, Stage } from '../../../../shared/contracts/delivery-counts.ts';
import type { Bucket } from '../../../../shared/nats/buckets/bucket.ts';
import { DeliveryTables } from './delivery-tables.ts';
import type { CountedHead } from './delivery-tables.ts';
import { HealthWindow, minuteOf } from './health-window.ts';
import type { HealthCount } from './health-window.ts';
import { StoreSchedule } from './store-schedule.ts';

export type HealthKeeperOptions = {
  readonly bucket: Bucket;
  readonly destinationId: string;
  readonly instanceId: string;
  /** Minimum time between two writes, in ms. */
  readonly flushEveryMs: number;
  /** How long hourly counts are kept, in hours. */
  readonly hoursKept: number;
  /** The part of the log that is settled. */
  readonly place: () => WrittenPlace;
  /** Stores the settled part of the log; called once the counts of that part are stored. */
  readonly storePlace: (place: WrittenPlace) => Promise<void>;
  /** The state of sending; undefined before it has begun. */
  readonly sending: () => SendingState | undefined;
  /** Whether the log can be reached: if not, nothing can be acknowledged either. */
  readonly isLogThere: () => boolean;
  /** Called when an entry could not be written; the write is repeated. */
  readonly warn: (error: unknown) => void;
};

const hourMs = 3_600_000;
/** If the recent entry has more minutes than this, they move to the past entry. */
const recentMinutesMax = 30;

/**
 * The number of events that were skipped, and when they were resolved, in ms since the epoch: at `fromMs`, or between
 * it and `toMs`.
 */
export type Skipped = { readonly fromMs: number; readonly toMs?: number; readonly events: number };

/**
 * The health window of one destination. It is stored before the events that it counts are acknowledged. If the bucket
 * refuses writes although the log is reachable, acknowledgements do not wait for the window: if the process dies then,
 * settled events that were not recorded are sent again.
 */
export class HealthKeeper {
  readonly #options: HealthKeeperOptions;
  readonly #key: string;
  readonly #window: HealthWindow;
  readonly #delivery: DeliveryTables;
  /** Minutes before this one are in the past entry, and have not changed since it was stored. */
  #pastUntil: number;
  #isAccessRefused: boolean;
  #skipped: SkippedRanges;
  /** Ranges of skipped events in the format of earlier builds. */
  #missed: readonly MissedRange[];
  readonly #schedule: StoreSchedule;
  /** Whether `passed` was called since the position was last read to be stored. */
  #hasPassed = false;

  /** Restores the last window of this instance and continues it. */
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
    this.#delivery = new DeliveryTables(options.hoursKept, Date.now(), past?.delivery, recent.delivery);
    this.#isAccessRefused = recent.accessRefused === true;
    this.#skipped = recent.skipped ?? {};
    this.#missed = recent.missed ?? [];
    const lastOfPast = past?.minutes.at(-1)?.[0] ?? -Infinity;
    this.#pastUntil = Math.min(recent.minutes[0]?.[0] ?? Infinity, lastOfPast + 1);
    const { flushEveryMs: everyMs, isLogThere, warn } = options;
    this.#schedule = new StoreSchedule({ everyMs, isLogThere, warn, store: () => this.#store() });
  }

  record(count: HealthCount, events: number): void {
    const nowMs = Date.now();
    this.#window.record(count, events, nowMs);
    // A count falls into a minute of the past entry only if the clock was set back.
    this.#pastUntil = Math.min(this.#pastUntil, minuteOf(nowMs));
    if (count === 'succeeded') this.#schedule.hurry();
    this.moved();
  }

  /** Call when an event moves from one stage to another. */
  countMove(head: CountedHead, from: Stage, to: MovedTo): void {
    this.#delivery.moved(head, from, to, Date.now());
    this.moved();
  }

  /** Call when a request ended: `tookMs` is its time, `throttled` the number of its throttled attempts. */
  countAnswer(tookMs: number, throttled: number): void {
    this.#delivery.answered(tookMs, throttled, Date.now());
  }

  /** Call when events were skipped. `fromMs` and `toMs`: when they were resolved, in ms since the epoch. */
  skipped(reason: SkipReason, { fromMs, toMs = fromMs, events }: Skipped): void {
    this.#skipped = joinSkipped([this.#skipped, { [reason]: [[fromMs, Math.max(fromMs, toMs) + 1, events]] }]);
    this.moved();
  }

  /** Sets whether the destination refuses its key or token. This is stored, so that a restarted dispatcher knows it. */
  setAccessRefused(isRefused: boolean): void {
    if (isRefused === this.#isAccessRefused) return;
    this.#isAccessRefused = isRefused;
    this.moved();
  }

  /** Call when the position has changed: it is stored soon, even if no acknowledgement waits for it. */
  moved(): void {
    this.#schedule.changed();
  }

  /**
   * Call when the position has changed by an event that the destination does not get. This alone is not stored: as long
   * as the rules are the same, the event would be decided in the same way again.
   */
  passed(): void {
    this.#hasPassed = true;
  }

  /** Call when events may be decided otherwise from now on: events that were passed before stay passed. */
  decisionsChanged(): void {
    if (this.#hasPassed) this.moved();
  }

  /** Whether writes to the bucket fail. */
  get isBehind(): boolean {
    return this.#schedule.isBehind;
  }

  /**
   * Settles once everything recorded so far is stored, or cannot be stored; undefined if there is nothing to wait for.
   * Never rejects.
   */
  stored(): Promise<void> | undefined {
    return this.#schedule.stored();
  }

  /** Stores what is not stored yet, and ends the writes. */
  stop(): Promise<void> {
    // The next dispatcher may have other rules.
    this.decisionsChanged();
    return this.#schedule.stop();
  }

  async #store(): Promise<void> {
    const { bucket } = this.#options;
    const nowMs = Date.now();
    const { minutes } = this.#window.minutesFrom(this.#pastUntil, nowMs);
    // The past entry is written before minutes that were folded into hours leave the recent entry.
    const isPastDue = minutes.length > recentMinutesMax || this.#window.hoursUntil > this.#pastUntil;
    if (isPastDue || this.#delivery.isAllDue(nowMs)) {
      const before = this.#pastUntil;
      this.#pastUntil = minuteOf(nowMs);
      const all = { ...this.#window.toRecord(nowMs), ...this.#deliveryPart('all') };
      const undo = this.#delivery.markStored();
      try {
        await bucket.put(pastHealthKey(this.#key), encodeHealthRecord(all));
      } catch (error) {
        undo();
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
    const delivery = this.#deliveryPart('changed');
    const place = this.#options.place();
    this.#hasPassed = false;
    try {
      await bucket.put(
        this.#key,
        encodeHealthRecord({ ...record, ...delivery, ...refused, ...missed, ...skipped, ...sending }),
      );
    } finally {
      await this.#options.storePlace(place);
    }
  }

  #deliveryPart(which: 'all' | 'changed'): Pick<HealthRecord, 'delivery'> {
    const delivery = this.#delivery.toCounts(which);
    return delivery === undefined ? {} : { delivery };
  }
}

const nothing: HealthRecord = { v: 1, minutes: [], lastDispatchedAt: null };
