import { stringifyExact } from '../../shared/json/exact-numbers.ts';
import { endHead } from '../../shared/contracts/events/envelope.ts';
import { EventSlice } from '../commit/frame.ts';
import type { FrameOutcome, FrameWaiter } from '../commit/frame.ts';
import type { Exchange } from '../http/exchange.ts';
import { accepted, invalid, problemOf, tooLarge, unavailable } from '../http/reply.ts';
import { BodyScan, scanBody } from '../payload/scan-body.ts';
import { describeProblem } from '../payload/describe-problem.ts';
import { identifyPayload, trackPayload } from '../payload/payloads.ts';
import type { IdentifyPayload, TrackPayload } from '../payload/payloads.ts';
import { replaceNulls } from '../payload/replace-nulls.ts';
import { isWithinWindow } from '../payload/time-window.ts';
import type { TimeWindow } from '../payload/time-window.ts';
import type { Admitted } from './admission.ts';
import type { Intake } from './intake.ts';
import { countInvalid } from './published-sources.ts';
import type { EventTally } from './published-sources.ts';

/** An event that the gateway made from part of a request; its token is blank. */
export type MadeEvent =
  | { readonly kind: 'track'; readonly payload: TrackPayload }
  | { readonly kind: 'identify'; readonly payload: IdentifyPayload & Pick<TrackPayload, 'distinctId'> };

export type MadeLimits = { readonly timeWindow: TimeWindow; readonly bytesMax: number };

/**
 * Accepts the events made from one request. The request is answered once all are stored. If an event is not stored, the
 * sender repeats the request, and deduplication drops the stored events by their ids.
 */
export class MadeEvents {
  readonly #intake: Intake;
  readonly #limits: MadeLimits;
  readonly #scan = new BodyScan();

  constructor(intake: Intake, limits: MadeLimits) {
    this.#intake = intake;
    this.#limits = limits;
  }

  store(exchange: Exchange, admitted: Admitted, events: readonly MadeEvent[]): void {
    const { source, atMs } = admitted;
    const bodies: Buffer[] = [];
    let bytes = 0;
    for (const event of events) {
      const body = this.#encode(event, atMs);
      if (!Buffer.isBuffer(body)) {
        countInvalid(source.tally, problemOf(body), events.length);
        return exchange.send(body);
      }
      bodies.push(body);
      bytes += body.length;
    }
    if (events.length === 0) return exchange.send(accepted);
    if (!this.#intake.hasRoom(events.length, bytes)) {
      source.tally.lost += events.length;
      return exchange.send(unavailable);
    }
    const answer = new AllStored(exchange, source.tally, events.length);
    const start = this.#intake.startOf(exchange, admitted);
    events.forEach(({ kind, payload }, index) => {
      const slice = new EventSlice(bodies[index] ?? Buffer.alloc(0), source.accountId);
      // The client is a provider, so only the body shows whether the visitor is a bot.
      const said = payload.identityContext?.userAgent;
      const bot = said ? this.#intake.botScoreOf(exchange, source, slice) : undefined;
      const event = { kind, id: payload.distinctId ?? this.#intake.newEventId(atMs), identity: payload, bot };
      this.#intake.append(this.#intake.partitionOf(source, event), endHead(start, event), slice, answer, index);
    });
  }

  /** An event's bytes, or the answer to a request with an invalid event. */
  #encode({ kind, payload }: MadeEvent, atMs: number) {
    const check = kind === 'track' ? trackPayload : identifyPayload;
    if (!check.Check(payload)) return invalid(describeProblem(check, payload));
    const { time } = payload as { readonly time?: number | null };
    if (!isWithinWindow(time, atMs, this.#limits.timeWindow)) {
      return invalid('time lies outside the window in which events are accepted');
    }
    const body = Buffer.from(stringifyExact(payload, ...Object.values(payload)));
    if (body.length > this.#limits.bytesMax) return tooLarge(this.#limits.bytesMax);
    scanBody(this.#scan, body);
    // A service cannot correct what a visitor typed into its form, and no store accepts a null character.
    return this.#scan.facts.nulls ? replaceNulls(body) : body;
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
