import type { OfferedDestination } from '../../../../shared/destinations/common-settings.ts';
import type { HealthKeeper } from '../health/health-keeper.ts';
import type { PullConsumer } from '../../../../shared/nats/consume/pull-consumer.ts';
import type { Logger } from '../../../../shared/runtime/logger.ts';
import type { DispatchTarget } from '../admission/dispatch-target.ts';
import type { Sending } from '../sending/sending.ts';
import type { Outbox } from '../settlement/outbox.ts';
import type { RetryQuota } from '../settlement/retry-quota.ts';
import { parkedATurn } from '../settlement/settlement.ts';
import type { Settlement } from '../settlement/settlement.ts';
import type { FrameQuota } from '../sources/frame-quota.ts';
import type { Inbox } from '../sources/inbox.ts';
import type { Sources } from '../sources/sources.ts';
import type { VisitorOrder } from '../waiting/visitor-order.ts';
import type { SkipAhead } from './skip-ahead.ts';

export type FlowControlOptions = {
  readonly destinationId: string;
  readonly pullConsumer: PullConsumer;
  readonly frameQuota: FrameQuota;
  readonly inbox: Inbox;
  readonly outbox: Outbox;
  readonly sending: Sending;
  readonly settlement: Settlement;
  readonly sources: Sources;
  readonly skipAhead: SkipAhead;
  readonly retryQuota: RetryQuota;
  readonly health: Pick<HealthKeeper, 'decisionsChanged'>;
  /** Undefined if the destination has order `none`. */
  readonly visitorOrder: VisitorOrder | undefined;
  readonly limits: { readonly eventsHeldMax: number; readonly bytesHeldMax: number };
  readonly logger: Logger;
};

/** While this many frames wait to be read, no more frames are requested. */
const framesUnopenedMax = 16;
/**
 * Number of parked events of one visitor that are read from the log together and sent one after the other: minimum, and
 * maximum below.
 */
const releasedTogetherMin = 16;
const releasedTogetherMax = 256;
/** Maximum number of fresh events that are parked in the search for an event that can be sent as a probe. */
const parkedForProbeMax = 256;

/** Takes events only while there is room for them, and while events can be sent to the destination. */
export class FlowControl {
  readonly #options: FlowControlOptions;
  /** The settings that were used last; other settings may contain another key. */
  #prepared: OfferedDestination | undefined;
  /** The reason why no event can be sent to the destination. */
  #problem: string | undefined;

  constructor(options: FlowControlOptions) {
    this.#options = options;
  }

  get hasProblem(): boolean {
    return this.#problem !== undefined;
  }

  /**
   * Call before events are taken. If the settings have changed, a destination that refused its key is probed at once,
   * and the position is stored.
   */
  noteSettings(target: DispatchTarget | undefined): void {
    if (target?.prepared === this.#prepared) return;
    this.#prepared = target?.prepared;
    const { sending, health } = this.#options;
    sending.askAgain();
    health.decisionsChanged();
  }

  /** Whether rules and settings can be read, so that events can be decided. */
  canDecide(target: DispatchTarget | undefined): target is DispatchTarget {
    return target !== undefined && (target.prepared !== undefined || !target.destination.isEnabled);
  }

  /** Whether there are too few fresh events in memory. */
  wantsFresh({ prepared }: DispatchTarget): boolean {
    const { sending, outbox, limits, settlement } = this.#options;
    if (outbox.parking >= parkedATurn) return false;
    if (sending.size >= limits.eventsHeldMax || sending.bytes >= limits.bytesHeldMax) return false;
    // All events in memory may end up in the retry log.
    if (this.isRetryLogFull(sending.bytes + outbox.parkingBytes)) return false;
    // While the breaker is not closed, a probe needs an event of a visitor who has no waiting events. The search for
    // such an event parks all others, so it is limited.
    if (!sending.gate.isBreakerClosed && settlement.parkedSinceOpening > parkedForProbeMax) return false;
    return prepared === undefined || sending.wantsFresh(prepared);
  }

  /** Whether so many events wait for another attempt that no fresh events are taken. */
  isRetryLogFull(heldBytes = 0): boolean {
    const { visitorOrder, retryQuota } = this.#options;
    return visitorOrder?.isFull() === true || retryQuota.isFull(heldBytes);
  }

  /** Opens or closes the sources, as memory, the retry log and the destination allow. */
  regulate(target: DispatchTarget | undefined, isRunning: boolean): void {
    const { pullConsumer, inbox, sending, settlement, sources, skipAhead } = this.#options;
    this.#noteProblem(target?.problem);
    const prepared = target?.destination.isEnabled === true && !sending.gate.isShut ? target.prepared : undefined;
    if (prepared !== undefined && isRunning) {
      sources.open(Math.min(releasedTogetherMax, Math.max(releasedTogetherMin, prepared.batchEventsMax)));
    } else {
      sources.close();
    }
    const isDisabled = target?.destination.isEnabled === false;
    if (isDisabled) settlement.leaveAll();
    skipAhead.removeHeld();
    const hasRoom = this.#hasRoom();
    const skips = skipAhead.isSkipping && inbox.unopened < framesUnopenedMax;
    if ((isDisabled || skips || (prepared !== undefined && hasRoom)) && isRunning) pullConsumer.resume();
    else pullConsumer.pause();
  }

  #hasRoom(): boolean {
    const { inbox, sending, frameQuota, limits } = this.#options;
    const hasMemory = sending.size < limits.eventsHeldMax && inbox.bytes < frameQuota.bytesMax;
    return inbox.unopened < framesUnopenedMax && hasMemory && !this.isRetryLogFull();
  }

  /** Whether fresh events are paused until the retry log has room, which no signal announces. */
  get isPaused(): boolean {
    const { visitorOrder, retryQuota } = this.#options;
    return visitorOrder?.isPaused === true || retryQuota.isPaused;
  }

  #noteProblem(problem: string | undefined): void {
    if (this.#problem === problem) return;
    this.#problem = problem;
    if (problem === undefined) return;
    const { destinationId, logger, settlement } = this.#options;
    logger.error({ destinationId, problem }, 'dispatcher: the destination cannot be sent to');
    settlement.handBackUnstarted();
  }
}
