import type { EventHash } from '../../../shared/contracts/events/event-hash.ts';
import type { LogMessage } from '../../../shared/nats/messages/log-message.ts';
import type { VisitorTouch } from '../../../shared/visitors/visitor-store.ts';
import type { IngestDeadLetter } from './dead-letters.ts';

/** An accepted frame as the log has it. */
export type StoredFrame = Pick<LogMessage, 'seq' | 'data' | 'storedAtMs'>;

/** Where an event stands in the log. */
export type Origin = { readonly frame: StoredFrame; readonly line: number };

/**
 * An event on its way through the resolver. It waits for its visitor as a text: hundreds of parsed events that wait
 * would be copied around by every garbage collection.
 */
export type Candidate = {
  readonly origin: Origin;
  readonly hash: EventHash;
  /** The event's part of the resolved event, as JSON. */
  readonly json: string;
  /** What it took in the accepted frame, in UTF-16 units: hardly ever less than its bytes by more than a few. */
  readonly acceptedBytes: number;
  /** What its client sent for it. */
  readonly sentBytes: number;
  readonly touch: VisitorTouch;
};

/** What of a frame is to be kept as it is. */
export type FrameLetters = { readonly frame: StoredFrame; readonly letters: readonly IngestDeadLetter[] };

/** Events whose visitors are looked for together, and what of frames is kept with them. */
export type Part = { readonly candidates: readonly Candidate[]; readonly left: readonly FrameLetters[] };

export type PartLimits = {
  readonly eventsMax: number;
  /** Of one account. */
  readonly accountEventsMax: number;
};

/**
 * Events that were admitted and wait for their visitors. Accounts take turns: of each the next part has so many at most,
 * in their order, so whoever sends a flood is not in front of the others of its partition.
 */
export class WaitingEvents {
  readonly #limits: PartLimits;
  /** The account whose turn is next stands first. */
  readonly #accounts = new Map<string, Candidate[]>();
  #left: FrameLetters[] = [];
  #bytes = 0;

  constructor(limits: PartLimits) {
    this.#limits = limits;
  }

  /** Of the accepted lines. */
  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#accounts.size === 0 && this.#left.length === 0;
  }

  add(candidate: Candidate): void {
    const { accountId } = candidate.touch;
    const waiting = this.#accounts.get(accountId);
    if (waiting === undefined) this.#accounts.set(accountId, [candidate]);
    else waiting.push(candidate);
    this.#bytes += candidate.acceptedBytes;
  }

  addLetters(letters: FrameLetters): void {
    this.#left.push(letters);
  }

  /** Takes the next part; an empty one where nothing waits. */
  next(): Part {
    const { eventsMax, accountEventsMax } = this.#limits;
    const candidates: Candidate[] = [];
    for (let turns = this.#accounts.size; turns > 0 && candidates.length < eventsMax; turns -= 1) {
      const [next] = this.#accounts;
      if (next === undefined) break;
      const [accountId, waiting] = next;
      const taken = waiting.splice(0, Math.min(accountEventsMax, eventsMax - candidates.length));
      for (const candidate of taken) {
        candidates.push(candidate);
        this.#bytes -= candidate.acceptedBytes;
      }
      this.#accounts.delete(accountId);
      if (waiting.length > 0) this.#accounts.set(accountId, waiting);
    }
    const left = this.#left;
    this.#left = [];
    return { candidates, left };
  }
}
