import { isReplayTier } from '../../../../shared/contracts/events/retry-record.ts';
import type { Exclusion } from '../admission/decide-attempt.ts';
import type { HealthKeeper } from '../health/health-keeper.ts';
import type { Delivered } from '../sending/deliver.ts';
import type { FailedExchange } from '../sending/failed-exchange.ts';
import type { Batch, Sending } from '../sending/sending.ts';
import type { RoundBudget } from '../sources/round-budget.ts';
import type { DispatchItem } from '../sources/dispatch-item.ts';
import type { Inbox } from '../sources/inbox.ts';
import { paced } from '../sources/pacing.ts';
import type { Sources } from '../sources/sources.ts';
import type { UntriedEvents } from '../sources/untried.ts';
import type { VisitorOrder } from '../waiting/visitor-order.ts';
import { countMove } from './count-move.ts';
import type { KeepUntried } from './keep-untried.ts';
import type { Outbox } from './outbox.ts';
import type { PendingWrites } from './pending-writes.ts';
import { recordStop } from './record-stop.ts';
import type { StopRecords } from './record-stop.ts';

/** An ended request, with the results of its events. */
export type EndedBatch = { readonly batch: Batch; readonly delivered: Delivered };

export type SettlementOptions = {
  readonly inbox: Inbox;
  readonly outbox: Outbox;
  readonly sending: Sending;
  readonly sources: Pick<Sources, 'remove'>;
  /** Undefined if the destination has order `none`. */
  readonly order: VisitorOrder | undefined;
  readonly health: Pick<HealthKeeper, 'record' | 'setAccessRefused' | 'countMove'>;
  readonly writes: PendingWrites;
  readonly keepUntried: KeepUntried;
  readonly observe: StopRecords['observe'];
  /** Measures an ended request. */
  readonly observeBatch: (batch: Batch, delivered: Delivered) => void;
  /** Called when the destination refuses its key or token, and when it accepts the key or token again. */
  readonly onAccess: (isRefused: boolean) => void;
  readonly budget: RoundBudget;
  readonly counts: StopRecords['counts'] & Record<'skipped' | 'already_waiting' | 'breaker_opened' | 'parked', number>;
};

/**
 * Cost of an event that goes to the retry log or the dead letters, in addition to its bytes, in units of work. A
 * delivered event costs little.
 */
const movedUnits = 4_000;
/** Cost of masking a failed request and its answer, once per request: about 100 µs. */
const exchangeUnits = 10_000;
/** Parked events that are stored in one turn: each takes about 40 µs, and one failure may park thousands. */
export const parkedATurn = 32;

/** Stores each event where its decision or its answer requires, and settles the event's line once it is stored. */
export class Settlement {
  readonly #options: SettlementOptions;
  /**
   * Ended requests that are not settled yet. Very many may end at the same time, for example requests that waited for
   * the same name look-up.
   */
  readonly #ended: EndedBatch[] = [];
  readonly #nextEnded: () => EndedBatch | undefined;
  readonly #storeNextParked: () => number | undefined;
  #isAccessRefused = false;
  /** Number of events that were parked before the breaker last opened. */
  #parkedAtOpening = 0;

  constructor(options: SettlementOptions) {
    const { budget, outbox } = options;
    this.#options = options;
    this.#nextEnded = paced(budget, () => this.#ended.shift());
    this.#storeNextParked = paced(budget, () => outbox.storeNextParked());
  }

  /** Number of events that were parked since the breaker last opened. */
  get parkedSinceOpening(): number {
    return this.#options.counts.parked - this.#parkedAtOpening;
  }

  /** Call when a request has ended; `settleEnded` then settles it. */
  ended(batch: EndedBatch): void {
    this.#ended.push(batch);
  }

  settleEnded(): void {
    while (this.#ended.length > 0) {
      const ended = this.#nextEnded();
      if (ended === undefined) return;
      this.#settle(ended);
    }
  }

  #settle({ batch, delivered }: EndedBatch): void {
    const { inbox, sending, outbox, budget, counts, writes, observeBatch } = this.#options;
    observeBatch(batch, delivered);
    const hasOpened = sending.ended(batch, delivered);
    this.#noteAccess(delivered);
    const whereabouts = outbox.settle(batch.items, delivered.attempts, batch.isProbe);
    let lastExchange: FailedExchange | undefined;
    for (const [index, item] of batch.items.entries()) {
      const at = whereabouts[index];
      const exchange = delivered.attempts[index]?.exchange;
      if (exchange !== undefined && exchange !== lastExchange) budget.spend(exchangeUnits);
      lastExchange = exchange;
      if (delivered.attempts[index]?.outcome.kind !== 'delivered') budget.spend(movedUnits + item.bytes);
      if (at === 'settled') inbox.settle(item);
      else if (at === 'waits on') inbox.handBack(item.frame);
      else if (at !== undefined) writes.after(at, () => inbox.settle(item));
    }
    this.#parkAfterFailed();
    sending.release(batch);
    if (hasOpened) {
      counts.breaker_opened += 1;
      this.#parkedAtOpening = counts.parked;
      this.handBackUnstarted();
    }
  }

  /** Settles an event that is not sent. */
  exclude(item: DispatchItem, decision: Exclusion): void {
    const { inbox, outbox, order, counts, writes, health } = this.#options;
    switch (decision.kind) {
      case 'over-budget':
        writes.after(outbox.deadLetterOverBudget(item, decision.reason), () => inbox.settle(item));
        return;
      case 'erased':
      case 'stop':
      case 'global-stop':
      case 'no-consent':
        recordStop(this.#options, item, decision);
        item.frame.isStarted = true;
        break;
      case 'skip':
        counts.skipped += 1;
        countMove(health, item, 'skipped');
        // A frame of the account's log may be handed back nevertheless: the inbox then remembers the line as settled.
        if (item.lane === 'retried') item.frame.isStarted = true;
    }
    if (item.lane === 'retried') order?.done(item, item.follower);
    inbox.skip(item);
  }

  /** Stores events that cannot be tried. */
  keep({ untried, finish }: UntriedEvents): void {
    const { writes, keepUntried } = this.#options;
    writes.after(Promise.all(untried.map(keepUntried)), finish);
  }

  /** Stores an event of whose line only the head can be read. */
  keepUnreadable(item: DispatchItem): void {
    const { inbox, order, health } = this.#options;
    countMove(health, item, 'dead unreadable');
    item.frame.isStarted = true;
    const finish = (): void => {
      if (item.lane === 'retried') order?.done(item, item.follower);
      inbox.settle(item);
    };
    this.keep({ untried: [{ kind: 'unreadable line', data: item.line }], finish });
  }

  /** Puts an event that is to be sent into its lane, unless it must wait for an earlier event of its visitor. */
  queue(item: DispatchItem): void {
    const { inbox, sending, order } = this.#options;
    const { source } = item.frame;
    const isRetry = source.kind === 'retry' && !isReplayTier(source.frame.tier);
    if (order !== undefined) {
      if (isRetry) this.#returned(item, order, source.frame);
      const goesLast = !isRetry && source.kind !== 'parked';
      if (goesLast && !this.#mayGoNext(item, order)) return;
      if (source.kind === 'parked' && !order.mayGo(source.follower)) {
        // An event released with it has failed before this one reached its lane.
        inbox.handBack(item.frame);
        return;
      }
    }
    sending.add(item);
  }

  /**
   * Call when a retry is read from the retry log. If the retry was not known to wait, later events of its visitor in
   * the lanes are parked behind it.
   */
  #returned(returned: DispatchItem, order: VisitorOrder, { tier, seq }: { tier: number; seq: number }): void {
    if (!order.returned(returned, { tier, seq })) return;
    const isLater = (item: DispatchItem): boolean => item.visitorId === returned.visitorId && !order.isHead(item);
    for (const item of this.#options.sending.remove(isLater)) this.#park(item, order);
  }

  /** Whether the event may be sent, because no event of its visitor waits. If it may not, it waits too. */
  #mayGoNext(item: DispatchItem, order: VisitorOrder): boolean {
    const { inbox, counts, writes } = this.#options;
    const place = order.placeOf(item);
    if (place === 'next') return true;
    item.frame.isStarted = true;
    if (place === 'known') {
      // The event was delivered a second time: its line is settled once the retry log has the event.
      counts.already_waiting += 1;
      writes.after(order.stored(item), () => inbox.settle(item));
    } else {
      this.#park(item, order);
    }
    return false;
  }

  /** Parks the later events of visitors for whom an event has failed. */
  #parkAfterFailed(): void {
    const { sending, order } = this.#options;
    if (order === undefined) return;
    for (const visitorId of order.takeFailed()) {
      for (const item of sending.removeBehind(visitorId, (other) => !order.isHead(other))) this.#park(item, order);
    }
  }

  /**
   * Parks an event until an earlier event of its visitor is done. An event that was already parked stays in its frame
   * in the log.
   */
  #park(item: DispatchItem, order: VisitorOrder): void {
    const { inbox, outbox, writes } = this.#options;
    if (item.follower === undefined) writes.after(outbox.park(item, order), () => inbox.settle(item));
    else inbox.handBack(item.frame);
  }

  /** Stores up to `parkedATurn` parked events. Returns whether more are left that may be stored in this round. */
  storeParked(): boolean {
    const { outbox, budget } = this.#options;
    for (let stored = 0; stored < parkedATurn && outbox.parking > 0; stored += 1) {
      const bytes = this.#storeNextParked();
      if (bytes === undefined) return false;
      budget.spend(movedUnits + bytes);
    }
    return outbox.parking > 0;
  }

  /** Hands back the frames of which no event was sent or counted. */
  handBackUnstarted(): void {
    const frames = this.#options.inbox.handBackUnstarted();
    if (frames.size > 0) this.#remove(({ frame }) => frames.has(frame));
  }

  /** Call when the destination is disabled: no event in memory is sent, and retries wait until it is enabled. */
  leaveAll(): void {
    const { inbox, outbox, counts, writes } = this.#options;
    this.handBackUnstarted();
    for (const item of this.#remove(() => true)) {
      if (item.lane === 'fresh') {
        counts.skipped += 1;
        inbox.settle(item);
      } else if (item.follower !== undefined) {
        inbox.handBack(item.frame);
      } else {
        writes.after(outbox.putBack(item), () => inbox.settle(item));
      }
    }
  }

  /** Removes and returns events that are neither in flight nor settled and for which `fits` returns true. */
  #remove(fits: (item: DispatchItem) => boolean): readonly DispatchItem[] {
    const { sources, sending } = this.#options;
    return [...sources.remove(fits), ...sending.remove(fits)];
  }

  #noteAccess({ isUp }: Delivered): void {
    const { health, sending, onAccess } = this.#options;
    const isRefused = sending.gate.isAccessRefused;
    if (isRefused || isUp) health.setAccessRefused(isRefused);
    if (isRefused === this.#isAccessRefused) return;
    this.#isAccessRefused = isRefused;
    onAccess(isRefused);
  }
}
