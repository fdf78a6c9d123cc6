import { isReplayTier, parkedTier, retryTier } from '../../../../shared/contracts/events/retry-record.ts';
import type { DeadLetter } from '../../../../shared/contracts/events/dead-letter.ts';
import type { EventHead } from '../../../../shared/contracts/events/resolved-event.ts';
import type { RetryRecord } from '../../../../shared/contracts/events/retry-record.ts';
import type { ResolvedFrame } from '../../../../shared/contracts/events/resolved-frame.ts';
import type { HealthKeeper } from '../health/health-keeper.ts';
import type { SourceActivity } from '../health/source-activity.ts';
import type { DispatchItem } from '../sources/dispatch-item.ts';
import { waitingStage } from '../sources/stage-of.ts';
import type { VisitorOrder } from '../waiting/visitor-order.ts';
import type { Follower } from '../waiting/waiting-visitors.ts';
import type { DeadLetterReason, FailedAttempt, RetryPolicy } from './retry-policy.ts';
import type { Attempted } from '../events/attempted.ts';
import type { RetryWriter } from './retry-writer.ts';
import type { AttemptOutcome } from '../sending/attempt-outcome.ts';
import type { Attempt } from '../sending/deliver.ts';
import { countAttempts } from './count-attempts.ts';
import { countMove } from './count-move.ts';
import type { DeadLetterWriter } from './dead-letter-writer.ts';
import type { KeepUntried } from './keep-untried.ts';
import { attemptsOf, originOf, retryRecordOf } from './retry-record-of.ts';
import type { Wait } from './retry-record-of.ts';
import { recordSkipped } from './record-skipped.ts';
import { recordStop } from './record-stop.ts';
import type { OutcomeObserver } from './outcome-observer.ts';

export type OutboxOptions = {
  readonly health: Pick<HealthKeeper, 'record' | 'skipped' | 'countMove'>;
  readonly retryWriter: Pick<RetryWriter, 'add'>;
  readonly deadLetters: Pick<DeadLetterWriter, 'add'>;
  readonly keepUntried: KeepUntried;
  readonly retryPolicy: RetryPolicy;
  readonly sourceActivity: Pick<SourceActivity, 'dispatched'>;
  /** Undefined if the destination has order `none`. */
  readonly order: VisitorOrder | undefined;
  /** Caches a frame of EVENTS in memory, since some of its events will be read again. */
  readonly keepFrame: (seq: number, frame: ResolvedFrame) => void;
  /** Whether the event's visitor was erased after the event was received; if so, nothing of the event is stored. */
  readonly isErased: (head: EventHead) => boolean;
  readonly observe: OutcomeObserver;
  readonly counts: OutboxCounts;
};

export type OutboxCounts = Record<
  | 'delivered'
  | 'limited_use'
  | 'failed_attempts'
  | 'retries'
  | 'held'
  | 'parked'
  | 'stopped'
  | 'global_stopped'
  | 'erased'
  | 'consent_stopped'
  | 'dead_letters'
  | 'missed_events'
  | `dead_letters_${DeadLetterReason}`
  | `attempts_${AttemptOutcome}`,
  number
>;

/**
 * What happened to an event: it is settled; it is being stored, until the promise settles; or it `waits on`, so it
 * stays in its frame of parked events and has to be handed back to it.
 */
export type Whereabouts = 'settled' | 'waits on' | Promise<unknown>;

const behindAnother = 'waits for an earlier event of its visitor';
const notSent = 'not sent yet: its request was not made';

/**
 * Settles events after an attempt: events that get another attempt go to the retry log, events that get none go to the
 * dead letters. All are counted in the health window, and reported.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  /** Parked events that are not stored yet, in the order of parking. */
  readonly #parking: Parking[] = [];
  #parkingBytes = 0;
  /** When the destination last accepted an event. */
  #takenAtMs = -Infinity;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /**
   * Counts the result of each event of a batch, and stores each event where its result requires. Events without an
   * attempt were not sent: an earlier event of their visitor failed, or the batch was no longer live. `isProbe`:
   * whether the batch was a probe.
   */
  settle(
    items: readonly DispatchItem[],
    attempts: readonly (Attempt | undefined)[],
    isProbe: boolean,
  ): readonly Whereabouts[] {
    const nowMs = Date.now();
    if (countAttempts(this.#options, items, attempts) > 0) this.#takenAtMs = nowMs;
    // Called after the results are counted, since a settled event counts as recorded.
    return items.map((item, index) => this.#moveOn(item, attempts[index], isProbe, nowMs));
  }

  /** Stores an event as a dead letter because its rules take too much work. */
  deadLetterOverBudget(item: DispatchItem, reason: string): Promise<void> {
    item.frame.isStarted = true;
    this.#options.health.record('failed', 1);
    return this.#deadLetter(item, 'over_budget', { ...attemptsOf(item.attempted, Date.now()), reason });
  }

  /** Parked events that are not being stored yet. */
  get parking(): number {
    return this.#parking.length;
  }

  /** Approximate bytes of the parked events that are not being stored yet. */
  get parkingBytes(): number {
    return this.#parkingBytes;
  }

  /**
   * Parks an event behind the waiting events of its visitor. `storeNextParked` stores parked events in the order of
   * parking. Settles once the log has the event. Parking and storing are separate, since very many events may be parked
   * at once.
   */
  park(
    item: DispatchItem,
    order: VisitorOrder,
    attempted: Attempted = item.attempted,
    reason = behindAnother,
  ): Promise<unknown> {
    item.frame.isStarted = true;
    item.forgetParsed();
    const isCopied = item.recorded?.isCopied ?? false;
    const follower = order.park(item, {
      attempted,
      origin: item.origin,
      receivedAtMs: item.head.receivedAtMs,
      isCopied,
    });
    this.#options.counts.parked += 1;
    const stored = new Promise((resolve) => {
      this.#parking.push({ item, order, follower, wait: { attempted, reason }, resolve });
      this.#parkingBytes += item.bytes;
    });
    order.storing(item, stored);
    return stored;
  }

  /** Starts to store the next parked event, if there is one. Returns its approximate bytes. */
  storeNextParked(): number {
    const parking = this.#parking.shift();
    if (parking === undefined) return 0;
    const { bytes } = parking.item;
    this.#parkingBytes -= bytes;
    parking.resolve(this.#storeParked(parking));
    return bytes;
  }

  /** Returns an event to the retry log without an attempt, because it may not be sent now. */
  putBack(item: DispatchItem): Promise<unknown> {
    this.#options.order?.waitsAgain(item);
    return this.#retryNow(item, 'switched off');
  }

  #storeParked({ item, order, follower, wait }: Parking): Promise<unknown> {
    if (!item.isReadable) {
      order.unpark(follower);
      return this.#keepLine(item);
    }
    const { retryWriter, observe, health } = this.#options;
    observe(item, 'retrying', wait.attempted.attempts, wait.reason);
    const nowMs = Date.now();
    const record = retryRecordOf(item, { ...wait, notBefore: nowMs }, nowMs);
    const stored = retryWriter.add(parkedTier, record, hasCountedRecord(item)).then((at) => {
      if (at !== undefined) {
        countMove(health, item, 'waiting');
        return order.parked(follower, at);
      }
      order.unpark(follower);
      return this.#deadLetterNoRoom(item, record);
    });
    item.forgetParsed();
    return stored;
  }

  #moveOn(item: DispatchItem, attempt: Attempt | undefined, isProbe: boolean, nowMs: number): Whereabouts {
    const { order } = this.#options;
    if (attempt?.outcome.kind === 'delivered' || attempt?.outcome.kind === 'dropped') {
      order?.done(item, item.follower);
      return 'settled';
    }
    if (this.#options.isErased(item.head)) {
      // The result of the request is already counted; the event is neither tried again nor stored.
      order?.done(item, item.follower);
      recordStop(this.#options, item, { kind: 'erased' });
      return 'settled';
    }
    if (attempt !== undefined) return this.#moveFailed(item, attempt, attempt.outcome, isProbe, nowMs);
    // If a version introduces an order, the dispatcher without an order handles its batches until it has ended.
    if (order === undefined) {
      return item.isReadable ? this.#retryNow(item, notSent) : this.#keepLine(item);
    }
    order.passedOver(item);
    if (item.follower === undefined && order.isHead(item)) return this.#retryNow(item, notSent);
    return this.#waitBehind(item, order, item.attempted, notSent);
  }

  #moveFailed(
    item: DispatchItem,
    { request, exchange }: Attempt,
    outcome: FailedAttempt['outcome'],
    isProbe: boolean,
    nowMs: number,
  ): Whereabouts {
    const { order, retryPolicy, counts, observe } = this.#options;
    const { attempted: before, follower } = item;
    if (!item.isReadable) return this.#keepLine(item).then(() => order?.done(item, follower));
    const hasTakenOthers = !isProbe && this.#takenAtMs > (before.heldAtMs ?? Infinity);
    const step = retryPolicy({ attempted: before, outcome, nowMs, hasTakenOthers }, Math.random());
    const { attempted, reason } = step;
    const made = request === undefined ? {} : { request };
    if (step.kind === 'dead letter') {
      return this.#deadLetter(item, step.why, { ...attemptsOf(attempted, nowMs), reason, ...made }, exchange);
    }
    if (step.kind === 'paused') counts.held += 1;
    if (order?.failed(item, follower) === false) return this.#waitBehind(item, order, attempted, reason);
    observe(item, 'retrying', attempted.attempts, reason, { exchange });
    const wait = { attempted, reason, ...made, notBefore: step.notBeforeMs };
    return this.#store(item, step.tier, wait, nowMs, {
      exchange,
      onStored: () => {
        if (step.kind === 'again') counts.retries += 1;
      },
    });
  }

  /** Stores an event that waits for its next attempt; if the retry log has no room, the event becomes a dead letter. */
  #store(
    item: DispatchItem,
    tier: number,
    wait: Wait,
    nowMs: number,
    { exchange, onStored }: { readonly exchange?: Attempt['exchange']; onStored?(): void } = {},
  ): Promise<unknown> {
    const { order, retryWriter, keepFrame, health } = this.#options;
    const { frameRead, origin } = item;
    if (frameRead !== undefined && origin !== undefined) keepFrame(origin.seq, frameRead);
    const record = retryRecordOf(item, wait, nowMs);
    const stored = retryWriter.add(tier, record, hasCountedRecord(item)).then((at) => {
      if (at === undefined) return this.#deadLetterNoRoom(item, record, exchange);
      onStored?.();
      countMove(health, item, waitingStage(wait.attempted.attempts));
      return order?.placed(item, { tier, seq: at.seq });
    });
    order?.storing(item, stored);
    return stored;
  }

  /** Parks an event. An event that is already parked stays in its frame in the log. */
  #waitBehind(item: DispatchItem, order: VisitorOrder, attempted: Attempted, reason: string): Whereabouts {
    if (item.follower === undefined) return this.park(item, order, attempted, reason);
    item.follower.attempted = attempted;
    return 'waits on';
  }

  /** Stores an event in the retry log as due now, since no attempt was made. */
  #retryNow(item: DispatchItem, reason: string): Promise<unknown> {
    const nowMs = Date.now();
    return this.#store(item, retryTier(0), { attempted: item.attempted, reason, notBefore: nowMs }, nowMs);
  }

  /** Stores an event as a dead letter, since the retry log has no room for its record. */
  #deadLetterNoRoom(item: DispatchItem, record: RetryRecord, exchange?: Attempt['exchange']): Promise<void> {
    const { attempts, firstAttemptAt, lastAttemptAt, request } = record;
    const made = { attempts, firstAttemptAt, lastAttemptAt, ...(request === undefined ? {} : { request }) };
    const reason = `no room in the retry log: ${record.reason}`;
    return this.#deadLetter(item, 'no_room', { ...made, reason }, exchange);
  }

  #deadLetter(
    item: DispatchItem,
    why: DeadLetterReason,
    about: AboutLetter,
    exchange?: Attempt['exchange'],
  ): Promise<void> {
    const { order, counts, deadLetters, observe, health } = this.#options;
    countMove(health, item, `dead ${why}`);
    counts.dead_letters += 1;
    counts[`dead_letters_${why}`] += 1;
    observe(item, 'rejected', about.attempts, about.reason, { exchange });
    const own = exchange === undefined ? {} : { exchange: exchange.read() };
    const letter = { ...about, ...own, ...originOf(item), event: item.line };
    return deadLetters.add(letter, item.head.id, item.readFrom).then((isKept) => {
      if (!isKept) this.#skip(item, about.firstAttemptAt);
      order?.done(item, item.follower);
    });
  }

  #keepLine(item: DispatchItem): Promise<void> {
    countMove(this.#options.health, item, 'dead unreadable');
    return this.#options.keepUntried({ kind: 'unreadable line', data: item.line });
  }

  /**
   * Records an event as skipped, since the dead letters have no room for it either. A retried event was resolved
   * between the two times.
   */
  #skip({ frame: { source }, head }: DispatchItem, firstAttemptAtMs: number): void {
    if (source.kind === 'log') recordSkipped(this.#options, 'dead_letters_full', source.message.storedAtMs);
    else recordSkipped(this.#options, 'dead_letters_full', head.receivedAtMs, firstAttemptAtMs);
  }
}

/** Whether a new record of an event replaces one that the quota counts: records of replays are not counted. */
function hasCountedRecord({ frame: { source } }: DispatchItem): boolean {
  return source.kind === 'parked' || (source.kind === 'retry' && !isReplayTier(source.frame.tier));
}

/** The fields of a dead letter about its event. */
type AboutLetter = Pick<DeadLetter, 'attempts' | 'firstAttemptAt' | 'lastAttemptAt' | 'reason' | 'request'>;

/** A parked event that is not being stored yet. */
type Parking = {
  readonly item: DispatchItem;
  readonly order: VisitorOrder;
  readonly follower: Follower;
  readonly wait: Omit<Wait, 'notBefore'>;
  resolve(stored: Promise<unknown>): void;
};
