/** Fresh events have come with the cursor, retried ones from the retry log. */
export type LaneClass = 'fresh' | 'retried';

export type LaneItem = {
  readonly visitorId: string;
  readonly lane: LaneClass;
  /** Items of different groups are not taken together. */
  readonly group?: string | undefined;
};

/** How far a batch looks for more of its group. */
const lookAheadMax = 1_024;

/**
 * The order in which events may be sent: events of one visitor one after the other, those of different visitors at the
 * same time. A batch takes following events of its visitors along, in order.
 */
export class VisitorLanes<Item extends LaneItem> {
  /** Visitors with an event ready or in flight, and what waits behind it. */
  readonly #waiting = new Map<string, Item[]>();
  readonly #ready: Record<LaneClass, Item[]> = { fresh: [], retried: [] };
  readonly #heads = { fresh: 0, retried: 0 };
  #size = 0;

  /** Items added and not yet released. */
  get size(): number {
    return this.#size;
  }

  readyCount(lane: LaneClass): number {
    return this.#ready[lane].length - this.#heads[lane];
  }

  add(item: Item): void {
    this.#size += 1;
    const behind = this.#waiting.get(item.visitorId);
    if (behind !== undefined) {
      behind.push(item);
      return;
    }
    this.#waiting.set(item.visitorId, []);
    this.#ready[item.lane].push(item);
  }

  /** Takes up to `max` items that may travel in one request; each is given back with `release`. */
  take(lane: LaneClass, max: number): Item[] {
    const taken: Item[] = [];
    const first = this.#shift(lane);
    if (first === undefined) return taken;
    this.#takeAlong(taken, first, max);
    if (first.group !== undefined) this.#takeGroup(taken, lane, max);
    while (first.group === undefined && taken.length < max) {
      const item = this.#shift(lane);
      if (item === undefined) break;
      this.#takeAlong(taken, item, max);
    }
    return taken;
  }

  /** The items of one `take` are done with: what waited behind them may go. */
  release(items: readonly Item[]): void {
    this.#size -= items.length;
    for (const visitorId of new Set(items.map((item) => item.visitorId))) {
      const behind = this.#waiting.get(visitorId);
      const next = behind?.shift();
      if (next === undefined) this.#waiting.delete(visitorId);
      else this.#ready[next.lane].push(next);
    }
  }

  /** Takes out every item that is not in flight and fits; returns them. */
  remove(fits: (item: Item) => boolean): Item[] {
    const removed: Item[] = [];
    const keep = (item: Item): boolean => {
      if (!fits(item)) return true;
      removed.push(item);
      return false;
    };
    const ready = new Set<string>();
    for (const lane of ['fresh', 'retried'] as const) {
      const items = this.#ready[lane].slice(this.#heads[lane]);
      for (const { visitorId } of items) ready.add(visitorId);
      this.#ready[lane] = items.filter(keep);
      this.#heads[lane] = 0;
    }
    const stillReady = new Set([...this.#ready.fresh, ...this.#ready.retried].map((item) => item.visitorId));
    for (const [visitorId, behind] of this.#waiting) {
      const kept = behind.filter(keep);
      this.#waiting.set(visitorId, kept);
      if (!ready.has(visitorId) || stillReady.has(visitorId)) continue;
      const next = kept.shift();
      if (next === undefined) this.#waiting.delete(visitorId);
      else this.#ready[next.lane].push(next);
    }
    this.#size -= removed.length;
    return removed;
  }

  /** Takes an item, and what follows it of its visitor as far as it may travel along. */
  #takeAlong(taken: Item[], item: Item, max: number): void {
    taken.push(item);
    const behind = this.#waiting.get(item.visitorId) ?? [];
    while (taken.length < max && behind[0]?.lane === item.lane && behind[0].group === item.group) {
      const next = behind.shift();
      if (next !== undefined) taken.push(next);
    }
  }

  /** Takes more of the group of what is taken. Those passed over keep their place: the head always goes first. */
  #takeGroup(taken: Item[], lane: LaneClass, max: number): void {
    const items = this.#ready[lane].slice(this.#heads[lane]);
    const passed: Item[] = [];
    let looked = 0;
    while (looked < Math.min(items.length, lookAheadMax) && taken.length < max) {
      const item = items[looked];
      looked += 1;
      if (item === undefined) break;
      if (item.group === taken[0]?.group) this.#takeAlong(taken, item, max);
      else passed.push(item);
    }
    if (passed.length === looked) return;
    this.#ready[lane] = [...passed, ...items.slice(looked)];
    this.#heads[lane] = 0;
  }

  #shift(lane: LaneClass): Item | undefined {
    const items = this.#ready[lane];
    const item = items[this.#heads[lane]];
    if (item === undefined) return undefined;
    this.#heads[lane] += 1;
    if (this.#heads[lane] === items.length || this.#heads[lane] > 4_096) {
      this.#ready[lane] = items.slice(this.#heads[lane]);
      this.#heads[lane] = 0;
    }
    return item;
  }
}
