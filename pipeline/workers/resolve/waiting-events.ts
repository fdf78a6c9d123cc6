import type { LogMessage } from '../../../shared/nats/messages/log-message.ts';
import type { IngestDeadLetter } from './dead-letters.ts';

/** An accepted frame as the log has it. */
export type StoredFrame = Pick<LogMessage, 'seq' | 'data' | 'storedAtMs'>;

/** Where an event stands in the log. */
export type Origin = { readonly frame: StoredFrame; readonly line: number };

/** An event that was cut out of its frame and not looked into. */
export type WaitingEvent = {
  readonly origin: Origin;
  /** Whose turn it waits for: one of another layout that cannot be read has none. */
  readonly accountId: string;
  /** Its line. */
  readonly text: string;
};

/** What of a frame is to be kept as it is. */
export type FrameLetters = { readonly frame: StoredFrame; readonly letters: readonly IngestDeadLetter[] };

/** Events that are resolved together, and what of frames is kept with them. */
export type Part = { readonly events: readonly WaitingEvent[]; readonly left: readonly FrameLetters[] };

type Accounts = Pick<ReadonlySet<string>, 'has'>;

const nobody: Accounts = new Set();

export type PartLimits = {
  readonly eventsMax: number;
  /** Of one account. */
  readonly accountEventsMax: number;
};

/**
 * Events that were cut out of their frames and wait to be resolved. Accounts take turns: of each the next part has so many
 * at most, in their order, so whoever sends a flood is not in front of the others of its partition.
 */
export class WaitingEvents {
  readonly #limits: PartLimits;
  /** The account whose turn is next stands first. */
  readonly #accounts = new Map<string, WaitingEvent[]>();
  #left: FrameLetters[] = [];
  #bytes = 0;

  constructor(limits: PartLimits) {
    this.#limits = limits;
  }

  /** Of their lines, in UTF-16 units: hardly ever less than their bytes by more than a few. */
  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#accounts.size === 0 && this.#left.length === 0;
  }

  add(event: WaitingEvent): void {
    const waiting = this.#accounts.get(event.accountId);
    if (waiting === undefined) this.#accounts.set(event.accountId, [event]);
    else waiting.push(event);
    this.#bytes += event.text.length;
  }

  addLetters(letters: FrameLetters): void {
    this.#left.push(letters);
  }

  /** Whether there is anything for a part without some accounts. */
  hasOther(than: Accounts): boolean {
    if (this.#left.length > 0) return true;
    for (const accountId of this.#accounts.keys()) if (!than.has(accountId)) return true;
    return false;
  }

  /** Takes the next part, without some accounts; an empty one where nothing else waits. */
  next(without: Accounts = nobody): Part {
    const { eventsMax, accountEventsMax } = this.#limits;
    const events: WaitingEvent[] = [];
    let turns = this.#accounts.size;
    // Whoever has more goes to the end, and is met there again.
    for (const [accountId, waiting] of this.#accounts) {
      if (turns === 0 || events.length >= eventsMax) break;
      turns -= 1;
      if (without.has(accountId)) continue;
      const taken = waiting.splice(0, Math.min(accountEventsMax, eventsMax - events.length));
      for (const event of taken) {
        events.push(event);
        this.#bytes -= event.text.length;
      }
      this.#accounts.delete(accountId);
      if (waiting.length > 0) this.#accounts.set(accountId, waiting);
    }
    const left = this.#left;
    this.#left = [];
    return { events, left };
  }
}
