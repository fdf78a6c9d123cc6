import type { EventOrigin } from '../../../../shared/contracts/events/event-origin.ts';
import type { Attempted } from '../events/attempted.ts';
import type { RetryPlace } from '../events/referenced-events.ts';

/** The place of a record in the log: line `index` of the frame `seq`, which has `records` lines. */
export type StoredRecord = {
  readonly seq: number;
  readonly index: number;
  readonly records: number;
  readonly bytes: number;
};

/** A parked event, which waits for an earlier event of its visitor. */
export type Follower = {
  readonly visitorId: string;
  /** Identifies the event within its visitor: see `eventKey`. */
  readonly key: string;
  /** Number in the order of parking. Events of one visitor are sent in this order. */
  readonly turn: number;
  /** Where the log has the event; undefined until the log has it. */
  place: RetryPlace | undefined;
  /** The event's earlier attempts. */
  attempted: Attempted;
  /** The event's place in EVENTS; undefined in records of earlier builds. */
  readonly origin: EventOrigin | undefined;
  /** When the event was received, in ms since the epoch. */
  readonly receivedAtMs: number;
  /** Whether the event's record contains a copy of the event. */
  readonly isCopied: boolean;
};

/** A parked event's place in EVENTS, the time of its receipt, and its attempts. */
export type ParkedAs = Pick<Follower, 'attempted' | 'origin' | 'receivedAtMs' | 'isCopied'>;

/** The message of the retry log that contains an event which waits for its next attempt. */
export type HeadPlace = { readonly tier: number; readonly seq: number };

/** An event that failed and waits for its next attempt, or is being tried again. */
export type Head = {
  readonly key: string;
  /** Where the log has the event; undefined until the log has it. */
  place: HeadPlace | undefined;
};

/** A head with its present place. */
export type WaitingHead = {
  readonly visitorId: string;
  readonly key: string;
  readonly place: HeadPlace | undefined;
  readonly head: Head;
};

type Waiting = {
  /** Events that wait for their next attempt; nearly always at most one. */
  readonly heads: Head[];
  /** Parked events that were released and are not settled. */
  readonly released: Follower[];
  /** Parked events in order; those before the index `first` were released. */
  parked: Follower[];
  first: number;
  /** Keys of `parked`; set once the list is too long to be searched. */
  keys: Set<string> | undefined;
};

/** A visitor with more parked events than this gets a set of their keys. */
const lookThroughMax = 32;
/** Number of released events after which they are removed from `parked` together. */
const holesMax = 256;

/**
 * The waiting visitors of a destination, with their events. A visitor waits from the moment an attempt of one of its
 * events fails until that event (its head) and all events parked behind it are settled. Meanwhile the visitor's other
 * events are parked. While no head waits, parked events are released in order, a few at a time. If one of them fails,
 * it becomes the head, and those released after it are parked again.
 */
export class WaitingVisitors {
  readonly #visitors = new Map<string, Waiting>();
  #parked = 0;
  #turns = 0;

  /** Number of waiting visitors. */
  get size(): number {
    return this.#visitors.size;
  }

  /** Number of parked events, released ones included. */
  get parked(): number {
    return this.#parked;
  }

  visitorIds(): Iterable<string> {
    return this.#visitors.keys();
  }

  isWaiting(visitorId: string): boolean {
    return this.#visitors.has(visitorId);
  }

  /** Whether the event waits already: it may have come a second time. */
  knows(visitorId: string, key: string): boolean {
    const waiting = this.#visitors.get(visitorId);
    if (waiting === undefined) return false;
    const isIt = (event: { readonly key: string }): boolean => event.key === key;
    if (waiting.heads.some(isIt) || waiting.released.some(isIt)) return true;
    if (waiting.parked.length <= lookThroughMax) {
      return waiting.parked.some((follower, i) => i >= waiting.first && isIt(follower));
    }
    waiting.keys ??= new Set(waiting.parked.slice(waiting.first).map((follower) => follower.key));
    return waiting.keys.has(key);
  }

  isHead(visitorId: string, key: string): boolean {
    return this.#headOf(visitorId, key) !== undefined;
  }

  hasHead(visitorId: string): boolean {
    return (this.#visitors.get(visitorId)?.heads.length ?? 0) > 0;
  }

  /** Call when an event waits for its next attempt. If it was released, it is no longer a follower. */
  addHead(visitorId: string, key: string, follower?: Follower): void {
    const waiting = this.#of(visitorId);
    if (follower !== undefined) this.#dropReleased(waiting, follower);
    if (!this.isHead(visitorId, key)) waiting.heads.push({ key, place: undefined });
  }

  /** Call when the log has stored a head, either for the first time or again in another message. */
  placeHead(visitorId: string, key: string, place: HeadPlace): void {
    const head = this.#headOf(visitorId, key);
    if (head !== undefined) head.place = place;
  }

  /** A head's place in the log; undefined if the event does not wait, or is not stored yet. */
  placeOfHead(visitorId: string, key: string): HeadPlace | undefined {
    return this.#headOf(visitorId, key)?.place;
  }

  *heads(): Iterable<WaitingHead> {
    for (const [visitorId, { heads }] of this.#visitors) {
      for (const head of heads) yield { visitorId, key: head.key, place: head.place, head };
    }
  }

  /** Parks an event behind all others of its visitor. */
  park(visitorId: string, key: string, as: ParkedAs, place?: RetryPlace): Follower {
    const { attempted, origin, receivedAtMs, isCopied } = as;
    const turn = (this.#turns += 1);
    const follower = { visitorId, key, turn, place, attempted, origin, receivedAtMs, isCopied };
    const waiting = this.#of(visitorId);
    waiting.parked.push(follower);
    waiting.keys?.add(key);
    this.#parked += 1;
    return follower;
  }

  /** Removes an event that the log does not have yet. */
  unpark(follower: Follower): void {
    const { visitorId, key } = follower;
    const waiting = this.#visitors.get(visitorId);
    const at = waiting?.parked.indexOf(follower, waiting.first) ?? -1;
    if (waiting === undefined || at === -1) return;
    waiting.parked.splice(at, 1);
    waiting.keys?.delete(key);
    this.#parked -= 1;
    this.#forgetIfOver(visitorId, waiting);
  }

  /**
   * Whether the next parked events of a visitor may be sent: all its events before them are settled, and the log has
   * the first of them.
   */
  canRelease(visitorId: string): boolean {
    const waiting = this.#visitors.get(visitorId);
    if (waiting === undefined || waiting.heads.length > 0 || waiting.released.length > 0) return false;
    return waiting.parked[waiting.first]?.place !== undefined;
  }

  /** Releases up to `max` events of a visitor, in order; none if `canRelease` is false. */
  release(visitorId: string, max: number): readonly Follower[] {
    const waiting = this.#visitors.get(visitorId);
    if (waiting === undefined || !this.canRelease(visitorId)) return [];
    while (waiting.released.length < max) {
      const next = waiting.parked[waiting.first];
      if (next?.place === undefined) break;
      waiting.first += 1;
      waiting.keys?.delete(next.key);
      waiting.released.push(next);
    }
    if (waiting.first >= holesMax || waiting.first === waiting.parked.length) {
      waiting.parked = waiting.parked.slice(waiting.first);
      waiting.first = 0;
    }
    return [...waiting.released];
  }

  /** Parks a released event again, at its previous place in the order. */
  giveBack(follower: Follower): void {
    const waiting = this.#visitors.get(follower.visitorId);
    const at = waiting?.released.indexOf(follower) ?? -1;
    if (waiting === undefined || at === -1) return;
    waiting.released.splice(at, 1);
    const isBehind = ({ turn }: Follower): boolean => turn > follower.turn;
    const behind = waiting.parked.findIndex((other, i) => i >= waiting.first && isBehind(other));
    waiting.parked.splice(behind === -1 ? waiting.parked.length : behind, 0, follower);
    waiting.keys?.add(follower.key);
  }

  /** Call when a head or a released event is settled. A released event that failed since its release is a head. */
  settle(visitorId: string, key: string, follower?: Follower): void {
    const waiting = this.#visitors.get(visitorId);
    if (waiting === undefined) return;
    if (follower === undefined || !this.#dropReleased(waiting, follower)) {
      const at = waiting.heads.findIndex((head) => head.key === key);
      if (at !== -1) waiting.heads.splice(at, 1);
    }
    this.#forgetIfOver(visitorId, waiting);
  }

  #headOf(visitorId: string, key: string): Head | undefined {
    return this.#visitors.get(visitorId)?.heads.find((head) => head.key === key);
  }

  #of(visitorId: string): Waiting {
    const found = this.#visitors.get(visitorId);
    if (found !== undefined) return found;
    const made = { heads: [], released: [], parked: [], first: 0, keys: undefined };
    this.#visitors.set(visitorId, made);
    return made;
  }

  #forgetIfOver(visitorId: string, { heads, released, parked, first }: Waiting): void {
    if (heads.length + released.length + parked.length - first === 0) this.#visitors.delete(visitorId);
  }

  /** Returns whether the event was released. */
  #dropReleased(waiting: Waiting, follower: Follower): boolean {
    const at = waiting.released.indexOf(follower);
    if (at === -1) return false;
    waiting.released.splice(at, 1);
    this.#parked -= 1;
    return true;
  }
}
