import type { LaneClass } from '../sources/dispatch-item.ts';

export type LaneItem = {
  readonly visitorId: string;
  readonly lane: LaneClass;
  /** Items of different groups are not taken together. */
  readonly group?: string | undefined;
  readonly bytes: number;
};

/** Limits of the items that are taken together. */
export type TakeLimits = {
  readonly itemsMax: number;
  /** Maximum bytes of all items together; a larger item is taken alone. */
  readonly bytesMax: number;
  /** Whether at most one item of each visitor is taken. */
  readonly isOneEach: boolean;
};

/**
 * What to do with the next item: `take` it; `leave` it out, since it is settled; or let it `stay`, and take no more
 * items for now.
 */
export type Turn = 'take' | 'leave' | 'stay';

/** Items that are being taken together. */
class Taking<Item extends LaneItem> {
  readonly items: Item[] = [];
  readonly #limits: TakeLimits;
  readonly #turnOf: (item: Item) => Turn;
  #bytes = 0;
  #isOver = false;

  constructor(limits: TakeLimits, turnOf: (item: Item) => Turn) {
    this.#limits = limits;
    this.#turnOf = turnOf;
  }

  get isFull(): boolean {
    return this.#isOver || this.items.length >= this.#limits.itemsMax;
  }

  turnOf(item: Item): Turn {
    const turn = this.#isOver ? 'stay' : this.#turnOf(item);
    this.#isOver ||= turn === 'stay';
    return turn;
  }

  mayFollow(): boolean {
    return !this.isFull && !this.#limits.isOneEach;
  }

  hasRoomFor({ bytes }: Item): boolean {
    return this.items.length === 0 || (!this.isFull && this.#bytes + bytes <= this.#limits.bytesMax);
  }

  add(item: Item): void {
    this.items.push(item);
    this.#bytes += item.bytes;
  }
}

/** Number of ready items that a batch searches for more items of its group. */
const lookAheadMax = 1_024;
const holesMax = 1_024;

/**
 * The order in which events may be sent: events of one visitor one after the other, events of different visitors at the
 * same time. A batch also takes the next events of its visitors, in order.
 */
export class VisitorLanes<Item extends LaneItem> {
  /**
   * For each visitor with an event ready or in flight, the events that wait for it; undefined if none waits, which is
   * the usual case.
   */
  readonly #waiting = new Map<string, Item[] | undefined>();
  /**
   * Ready items in order. An item that is taken leaves a hole, so that nothing refers to it; the holes before the head
   * are removed together.
   */
  readonly #ready: Record<LaneClass, (Item | undefined)[]> = { fresh: [], retried: [] };
  readonly #heads = { fresh: 0, retried: 0 };
  #size = 0;
  #bytes = 0;

  /** Number of items that were added and are not yet released. */
  get size(): number {
    return this.#size;
  }

  /** Bytes of the items added and not yet released. */
  get bytes(): number {
    return this.#bytes;
  }

  readyCount(lane: LaneClass): number {
    return this.#ready[lane].length - this.#heads[lane];
  }

  add(item: Item): void {
    this.#size += 1;
    this.#bytes += item.bytes;
    const behind = this.#waiting.get(item.visitorId);
    if (behind !== undefined) {
      behind.push(item);
    } else if (this.#waiting.has(item.visitorId)) {
      this.#waiting.set(item.visitorId, [item]);
    } else {
      this.#waiting.set(item.visitorId, undefined);
      this.#ready[item.lane].push(item);
    }
  }

  /**
   * Takes items that may be sent in one request; call `release` with them once they are finished. `turnOf` is called
   * for each item before its group and size are read, and may change both; it must not call the lanes.
   */
  take(lane: LaneClass, limits: TakeLimits, turnOf: (item: Item) => Turn = () => 'take'): Item[] {
    const taking = new Taking<Item>(limits, turnOf);
    const first = this.#shift(lane, taking);
    if (first === undefined) return [];
    this.#takeAlong(taking, first);
    if (first.group !== undefined) {
      this.#takeGroup(taking, lane, first.group);
      return taking.items;
    }
    while (!taking.isFull) {
      const item = this.#shift(lane, taking);
      if (item === undefined) break;
      this.#takeAlong(taking, item);
    }
    return taking.items;
  }

  /** Call when the items of one `take` are finished: items that waited for them become ready. */
  release(items: readonly Item[]): void {
    this.#forget(items);
    const [only] = items;
    if (items.length === 1 && only !== undefined) this.#releaseVisitor(only.visitorId);
    else for (const visitorId of new Set(items.map((item) => item.visitorId))) this.#releaseVisitor(visitorId);
  }

  /**
   * Removes and returns, in order, a visitor's items that wait for its items in flight and for which `fits` returns
   * true.
   */
  removeBehind(visitorId: string, fits: (item: Item) => boolean): Item[] {
    const behind = this.#waiting.get(visitorId);
    if (behind === undefined) return [];
    const removed = behind.filter(fits);
    this.#waiting.set(visitorId, removed.length === behind.length ? undefined : behind.filter((item) => !fits(item)));
    this.#forget(removed);
    return removed;
  }

  /** Removes and returns the items for which `fits` returns true, except those in flight. */
  remove(fits: (item: Item) => boolean): Item[] {
    const removed: Item[] = [];
    const keep = (item: Item): boolean => {
      if (!fits(item)) return true;
      removed.push(item);
      return false;
    };
    const ready = new Set<string>();
    const stillReady = new Set<string>();
    for (const lane of ['fresh', 'retried'] as const) {
      const items = this.#readyItems(lane);
      for (const { visitorId } of items) ready.add(visitorId);
      const kept = items.filter(keep);
      for (const { visitorId } of kept) stillReady.add(visitorId);
      this.#ready[lane] = kept;
      this.#heads[lane] = 0;
    }
    for (const [visitorId, behind] of this.#waiting) {
      if (behind !== undefined) this.#waiting.set(visitorId, behind.filter(keep));
      if (ready.has(visitorId) && !stillReady.has(visitorId)) this.#releaseVisitor(visitorId);
    }
    this.#forget(removed);
    return removed;
  }

  #forget(items: readonly Item[]): void {
    this.#size -= items.length;
    for (const { bytes } of items) this.#bytes -= bytes;
  }

  /** Makes the visitor's next event ready. Call when none of its events is ready or in flight. */
  #releaseVisitor(visitorId: string): void {
    const next = this.#waiting.get(visitorId)?.shift();
    if (next === undefined) this.#waiting.delete(visitorId);
    else this.#ready[next.lane].push(next);
  }

  /** Takes an item, and as many of the next items of its visitor as may be sent in the same request. */
  #takeAlong(taking: Taking<Item>, item: Item): void {
    taking.add(item);
    if (!taking.mayFollow()) return;
    const behind = this.#waiting.get(item.visitorId);
    if (behind === undefined) return;
    for (let next = behind[0]; next !== undefined && next.lane === item.lane; next = behind[0]) {
      const turn = this.#turnOf(taking, next);
      if (turn === 'stay') return;
      if (turn === 'take' && (next.group !== item.group || !taking.hasRoomFor(next))) return;
      behind.shift();
      if (turn === 'take') taking.add(next);
      else this.#forget([next]);
    }
  }

  /**
   * Takes more items of a group. Items of other groups keep their place; each batch begins with the item at the head.
   */
  #takeGroup(taking: Taking<Item>, lane: LaneClass, group: string): void {
    const items = this.#readyItems(lane);
    const passed: Item[] = [];
    const left: Item[] = [];
    let looked = 0;
    while (looked < Math.min(items.length, lookAheadMax) && !taking.isFull) {
      const item = items[looked];
      if (item === undefined) break;
      const turn = this.#turnOf(taking, item);
      const isOfGroup = turn === 'take' && item.group === group;
      if (turn === 'stay' || (isOfGroup && !taking.hasRoomFor(item))) break;
      looked += 1;
      if (isOfGroup) this.#takeAlong(taking, item);
      else if (turn === 'take') passed.push(item);
      else left.push(item);
    }
    if (passed.length === looked) return;
    this.#ready[lane] = [...passed, ...items.slice(looked)];
    this.#heads[lane] = 0;
    this.#forget(left);
    for (const { visitorId } of left) this.#releaseVisitor(visitorId);
  }

  /** Takes the next item, if there is room for it. */
  #shift(lane: LaneClass, taking: Taking<Item>): Item | undefined {
    const items = this.#ready[lane];
    for (;;) {
      const head = this.#heads[lane];
      const item = items[head];
      if (item === undefined) return undefined;
      const turn = this.#turnOf(taking, item);
      if (turn === 'stay' || (turn === 'take' && !taking.hasRoomFor(item))) return undefined;
      items[head] = undefined;
      this.#heads[lane] = head + 1;
      if (head + 1 === items.length || head >= holesMax) {
        items.splice(0, head + 1);
        this.#heads[lane] = 0;
      }
      if (turn === 'take') return item;
      this.#forget([item]);
      this.#releaseVisitor(item.visitorId);
    }
  }

  #turnOf(taking: Taking<Item>, item: Item): Turn {
    const { bytes } = item;
    const turn = taking.turnOf(item);
    this.#bytes += item.bytes - bytes;
    return turn;
  }

  #readyItems(lane: LaneClass): Item[] {
    return this.#ready[lane].filter((item) => item !== undefined);
  }
}
