import { endHead } from '../../shared/contracts/events/envelope.ts';
import { EventSlice } from '../commit/frame.ts';
import type { FrameOutcome, FrameWaiter } from '../commit/frame.ts';
import type { Exchange } from '../http/exchange.ts';
import { accepted, problemOf, unavailable } from '../http/reply.ts';
import type { Admitted } from './admission.ts';
import { encodeMade } from './encode-made.ts';
import type { MadeEvent, MadeLimits } from './encode-made.ts';
import type { Intake } from './intake.ts';
import { countInvalid } from './published-sources.ts';
import type { EventTally } from './published-sources.ts';

/**
 * Accepts the events made from one request. The request is answered once all are stored. If an event is not stored, the
 * sender repeats the request, and deduplication drops the stored events by their ids. An event without an id gets
 * another id in the repeat, so it would be stored twice.
 */
export class MadeEvents {
  readonly #intake: Intake;
  readonly #limits: MadeLimits;

  constructor(intake: Intake, limits: MadeLimits) {
    this.#intake = intake;
    this.#limits = limits;
  }

  /** `key`: the source key of the request, which is not stored. */
  store(exchange: Exchange, admitted: Admitted, events: readonly MadeEvent[], key: string): void {
    const { source, atMs } = admitted;
    const bodies: Buffer[] = [];
    let bytes = 0;
    for (const event of events) {
      const body = encodeMade(event, key, atMs, this.#limits);
      if (!Buffer.isBuffer(body)) {
        countInvalid(source.tally, problemOf(body), events.length);
        return exchange.send(body);
      }
      bodies.push(body);
      bytes += body.length;
    }
    if (events.length === 0) return exchange.send(accepted);
    if (!this.#intake.hasRoom(events.length, bytes, source.accountId)) {
      source.tally.lost += events.length;
      return exchange.send(unavailable);
    }
    const answer = new AllStored(exchange, source.tally, events.length);
    const start = this.#intake.startOf(exchange, admitted);
    // Shared by events without an id or a visitor, because events of one frame are stored together or not at all.
    const requestId = this.#intake.newEventId(atMs);
    events.forEach(({ kind, payload }, index) => {
      const slice = new EventSlice(bodies[index] ?? Buffer.alloc(0), source.accountId);
      // The client is a provider, so only the body shows whether the visitor is a bot.
      const said = payload.identityContext?.userAgent;
      const bot = said ? this.#intake.botScoreOf(exchange, source, slice) : undefined;
      const event = { kind, id: payload.distinctId ?? this.#intake.newEventId(atMs), identity: payload, bot };
      const partition = this.#intake.partitionOf(source, { ...event, id: payload.distinctId ?? requestId });
      this.#intake.append(partition, endHead(start, event), slice, answer, index);
    });
  }
}

/** Answers once all events of a request are decided. */
class AllStored implements FrameWaiter {
  readonly #exchange: Exchange;
  readonly #tally: EventTally;
  #waiting: number;
  #isLost = false;

  constructor(exchange: Exchange, tally: EventTally, events: number) {
    this.#exchange = exchange;
    this.#tally = tally;
    this.#waiting = events;
  }

  frameDecided(outcome: FrameOutcome): void {
    if (outcome === 'stored') this.#tally.stored += 1;
    else {
      this.#tally.lost += 1;
      this.#isLost = true;
    }
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#exchange.send(this.#isLost ? unavailable : accepted);
  }
}
