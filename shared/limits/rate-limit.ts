export type Rate = {
  /** Units that an owner gains per second. 0: only `credit` adds units. */
  readonly perS: number;
  /** Units that an owner may use at once, and its level at the start. Time never raises the level above them. */
  readonly burst: number;
  /** Number of owners that are remembered. Above it the oldest are forgotten and start again with a full burst. */
  readonly ownersMax?: number;
};

const ownersMaxByDefault = 100_000;
/** From this number of owners on, owners with a full burst are forgotten. */
const ownersSwept = 1_000;

/**
 * Limits what each owner (an account, a source key, an address) uses over time, by a token bucket for each owner. Units
 * are events, bytes, milliseconds of work or requests.
 *
 * Use `take` if the cost is known before the work, `charge` if it is known only afterwards: an owner in debt then
 * waits.
 *
 * ```ts
 * const events = new RateLimit({ perS: 10_000, burst: 20_000 });
 * const waitMs = events.take(sourceKey, rows);
 * if (waitMs > 0) return tooMany(waitMs);
 * ```
 */
export class RateLimit {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #ownersMax: number;
  readonly #now: () => number;
  /** Levels by owner; an owner without an entry has a full burst. */
  readonly #levels = new Map<string, Level>();
  #sweepAt = ownersSwept;

  /** `now` is in ms. A clock that is set back adds no units for that time. */
  constructor({ perS, burst, ownersMax = ownersMaxByDefault }: Rate, now: () => number = () => performance.now()) {
    this.#perMs = perS / 1_000;
    this.#burst = burst;
    this.#ownersMax = ownersMax;
    this.#now = now;
  }

  /**
   * Uses units and returns 0, or uses none and returns how long to wait for them, in ms. An amount above the burst
   * passes at a full burst and leaves a debt, so no amount is refused for ever.
   */
  take(owner: string, amount: number, nowMs = this.#now()): number {
    const level = this.#levelOf(owner, nowMs);
    const waitMs = this.#untilMs(level.units, amount);
    if (waitMs === 0) level.units -= amount;
    return waitMs;
  }

  /** Uses units after the work is done; an owner with too few units goes into debt. */
  charge(owner: string, amount: number, nowMs = this.#now()): void {
    this.#levelOf(owner, nowMs).units -= amount;
  }

  /** Gives back unused units, or adds units. Units above the burst are lost at the next call. */
  credit(owner: string, amount: number): void {
    const level = this.#levels.get(owner);
    if (level !== undefined) level.units += amount;
  }

  /**
   * Time until the owner may use `amount`, in ms; 0 if it may now. Without `amount`: until the owner is out of debt.
   */
  waitMs(owner: string, amount = 0, nowMs = this.#now()): number {
    const level = this.#levels.get(owner);
    return level === undefined ? 0 : this.#untilMs(this.#fill(level, nowMs).units, amount);
  }

  /** Owners in debt, with the time until each is out of debt, in ms. */
  inDebt(nowMs = this.#now()): ReadonlyMap<string, number> {
    this.#sweep(nowMs);
    const waits = [...this.#levels].map(([owner, { units }]) => [owner, this.#untilMs(units, 0)] as const);
    return new Map(waits.filter(([, waitMs]) => waitMs > 0));
  }

  /** Number of remembered owners. */
  get size(): number {
    return this.#levels.size;
  }

  forget(owner: string): void {
    this.#levels.delete(owner);
  }

  #untilMs(units: number, amount: number): number {
    const needed = Math.min(amount, this.#burst);
    return units < needed ? (needed - units) / this.#perMs : 0;
  }

  #levelOf(owner: string, nowMs: number): Level {
    const known = this.#levels.get(owner);
    if (known !== undefined) return this.#fill(known, nowMs);
    if (this.#levels.size >= this.#sweepAt) this.#makeRoom(nowMs);
    const level = { units: this.#burst, atMs: nowMs };
    this.#levels.set(owner, level);
    return level;
  }

  #fill(level: Level, nowMs: number): Level {
    const elapsedMs = Math.max(0, nowMs - level.atMs);
    level.units = Math.min(level.units + elapsedMs * this.#perMs, this.#burst);
    level.atMs = nowMs;
    return level;
  }

  #sweep(nowMs: number): void {
    for (const [owner, level] of this.#levels)
      if (this.#fill(level, nowMs).units >= this.#burst) this.#levels.delete(owner);
  }

  #makeRoom(nowMs: number): void {
    this.#sweep(nowMs);
    // A tenth at a time, so that a full map is not swept for each new owner.
    const kept = this.#levels.size < this.#ownersMax ? this.#ownersMax : this.#ownersMax * 0.9;
    for (const owner of this.#levels.keys()) {
      if (this.#levels.size <= kept) break;
      this.#levels.delete(owner);
    }
    this.#sweepAt = Math.min(this.#ownersMax, Math.max(ownersSwept, 2 * this.#levels.size));
  }
}

/** Units of an owner at the time `atMs`, in ms; negative if the owner is in debt. */
type Level = { units: number; atMs: number };
