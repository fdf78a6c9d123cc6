import { accountGroups, groupOf } from '../../../shared/contracts/events/event-hash.ts';
import { GroupPlaces, placesFor } from './group-places.ts';

/** The number of a place has 16 bits, since a cell has to hold the lower 16 bits of a hash's high half as well. */
const placesMax = 65_535;

/**
 * A set of 64-bit hashes, each with the step of time in which it was added. When full, it forgets the oldest hash of
 * the group of accounts that has the most. `GroupPlaces` says where each hash is; an open-addressing table of 32-bit
 * cells (linear probing, at most 4 in 5 full) finds it. A cell has the place of a hash and the lower bits of its high
 * half; the place has the other bits, so that a look-up rarely has to read it. About 13 bytes per hash when full.
 */
export class HashSet {
  readonly #sizeMax: number;
  readonly #places = new GroupPlaces();
  #size = 0;
  /** The upper 16 bits of the high half of the hash at each place. */
  #highs = new Uint16Array(0);
  // Signed, since the engine has no small integers above 31 bits; the bits are the same.
  #lows = new Int32Array(0);
  /** The lowest 8 bits of the number of a hash's step. */
  #steps = new Uint8Array(0);
  /** 0 if the cell is free; otherwise the lower bits of a hash's high half above, and its place + 1 below. */
  #cells = new Int32Array(0);
  #cellsPerHash = 0;
  #placeBits = 0;
  #placeMask = 0;
  /** The oldest step of which the set may have hashes. */
  #keptFrom = 0;
  #evictedStep = -Infinity;

  constructor(sizeMax: number, places = 1_024) {
    this.#sizeMax = sizeMax;
    if (placesFor(sizeMax) > placesMax) throw new RangeError(`creating a set of ${sizeMax} hashes: too large`);
    this.#grow(places);
  }

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    const arrays = [this.#highs, this.#lows, this.#steps, this.#cells];
    return arrays.reduce((sum, { byteLength }) => sum + byteLength, this.#places.bytes);
  }

  /** The latest step of a hash that was forgotten because the set was full. */
  get evictedStep(): number {
    return this.#evictedStep;
  }

  has(high: number, low: number): boolean {
    return this.#cells[this.#probe(high | 0, low | 0)] !== 0;
  }

  /**
   * Removes the hashes of earlier steps than this one, which never decreases. Call it before hashes of another step are
   * added: a set can have 256 steps.
   */
  keepFrom(step: number): void {
    if (step === this.#keptFrom) return;
    for (let group = 0; group < accountGroups; group += 1) {
      while (this.#places.taken(group) > 0 && this.#oldestStep(group) < step) this.#dropOldest(group);
    }
    this.#keptFrom = step;
  }

  /** Adds a hash in the latest step. Returns false if the hash is already in the set. */
  add(high: number, low: number, step: number): boolean {
    // One probe finds a hash and its cell: filling a table with millions of hashes takes nearly all of its time here.
    let cell = this.#probe(high | 0, low | 0);
    if (this.#cells[cell] !== 0) return false;
    const group = groupOf(low);
    if (this.#size === this.#sizeMax) {
      this.#evict(group);
      cell = this.#probe(high | 0, low | 0);
    }
    let place = this.#places.take(group);
    if (place < 0) {
      this.#grow(this.#lows.length * 2);
      place = this.#places.take(group);
      cell = this.#probe(high | 0, low | 0);
    }
    this.#highs[place] = high >>> 16;
    this.#lows[place] = low;
    this.#steps[place] = step;
    this.#cells[cell] = (high << this.#placeBits) | (place + 1);
    this.#size += 1;
    return true;
  }

  /**
   * Adds the hashes `from` up to, but not including, `to` of a list in which each hash is two numbers: its high half,
   * then its low half. Has the same effect as `add` for each, and is faster if there is room.
   */
  addAll(hashes: Int32Array, from: number, to: number, step: number): void {
    for (let at = from; at < to;) {
      const room = this.#sizeMax - this.#size;
      if (room > 0) at = this.#fill(hashes, at, Math.min(to, at + room), step);
      if (at < to) {
        this.add(hashes[at * 2] ?? 0, hashes[at * 2 + 1] ?? 0, step);
        at += 1;
      }
    }
  }

  /** Adds hashes for which the set has room. Returns where it stopped, because the set has to grow. */
  #fill(hashes: Int32Array, from: number, to: number, step: number): number {
    // Local copies of the fields, for a loop over millions of hashes.
    const highs = this.#highs;
    const lows = this.#lows;
    const steps = this.#steps;
    const cells = this.#cells;
    const length = cells.length;
    const cellsPerHash = this.#cellsPerHash;
    const bits = this.#placeBits;
    const mask = this.#placeMask;
    const places = this.#places;
    let added = 0;
    let at = from;
    for (; at < to; at += 1) {
      const high = hashes[at * 2] ?? 0;
      const low = hashes[at * 2 + 1] ?? 0;
      const tag = high << bits;
      let cell = ((low >>> 0) * cellsPerHash) | 0;
      let content = cells[cell] ?? 0;
      while (content !== 0) {
        if ((content & ~mask) === tag) {
          const place = (content & mask) - 1;
          if (lows[place] === low && highs[place] === high >>> 16) break;
        }
        cell = cell + 1 === length ? 0 : cell + 1;
        content = cells[cell] ?? 0;
      }
      if (content !== 0) continue;
      const place = places.take(groupOf(low));
      if (place < 0) break;
      highs[place] = high >>> 16;
      lows[place] = low;
      steps[place] = step;
      cells[cell] = tag | (place + 1);
      added += 1;
    }
    this.#size += added;
    return at;
  }

  /** Makes room for this many hashes, but at most for the set's maximum. */
  reserve(size: number): void {
    const places = placesFor(Math.min(size, this.#sizeMax));
    if (places > this.#lows.length) this.#grow(places);
  }

  /** Forgets the oldest hash of the largest group: of the group that adds a hash if no other is larger. */
  #evict(adding: number): void {
    const group = this.#places.largest(adding);
    this.#evictedStep = Math.max(this.#evictedStep, this.#oldestStep(group));
    this.#dropOldest(group);
  }

  #oldestStep(group: number): number {
    const step = this.#steps[this.#places.oldest(group)] ?? 0;
    return this.#keptFrom + ((step - this.#keptFrom) & 255);
  }

  #dropOldest(group: number): void {
    this.#free(this.#cellOf(this.#places.oldest(group)));
    this.#places.giveBack(group);
    this.#size -= 1;
  }

  #home(low: number): number {
    // Multiplying and taking the upper half spreads a 32-bit hash over any number of cells.
    return ((low >>> 0) * this.#cellsPerHash) | 0;
  }

  /** The cell of a hash or, if the hash is missing, the free cell that it would get. Both halves are signed. */
  #probe(high: number, low: number): number {
    const cells = this.#cells;
    const mask = this.#placeMask;
    const tag = high << this.#placeBits;
    for (let cell = this.#home(low); ; cell = cell + 1 === cells.length ? 0 : cell + 1) {
      const content = cells[cell] ?? 0;
      if (content === 0) return cell;
      if ((content & ~mask) !== tag) continue;
      const place = (content & mask) - 1;
      if (this.#lows[place] === low && this.#highs[place] === high >>> 16) return cell;
    }
  }

  #cellOf(place: number): number {
    const cells = this.#cells;
    let cell = this.#home(this.#lows[place] ?? 0);
    while (((cells[cell] ?? 0) & this.#placeMask) !== place + 1) cell = cell + 1 === cells.length ? 0 : cell + 1;
    return cell;
  }

  /** Empties a cell and moves displaced entries closer to their homes, so that no look-up stops early. */
  #free(cell: number): void {
    const cells = this.#cells;
    const length = cells.length;
    let hole = cell;
    for (let next = (cell + 1) % length; ; next = next + 1 === length ? 0 : next + 1) {
      const content = cells[next] ?? 0;
      if (content === 0) break;
      const home = this.#home(this.#lows[(content & this.#placeMask) - 1] ?? 0);
      // The entry may move into the hole if its home is not between the hole and its cell.
      if ((next - home + length) % length >= (next - hole + length) % length) {
        cells[hole] = content;
        hole = next;
      }
    }
    cells[hole] = 0;
  }

  /** Adds free places until there are this many, or as many as the set may need. All hashes keep their places. */
  #grow(wanted: number): void {
    const places = this.#places.grow(Math.min(wanted, placesFor(this.#sizeMax)));
    const highs = new Uint16Array(places);
    highs.set(this.#highs);
    const lows = new Int32Array(places);
    lows.set(this.#lows);
    const steps = new Uint8Array(places);
    steps.set(this.#steps);
    this.#highs = highs;
    this.#lows = lows;
    this.#steps = steps;
    this.#spreadCells();
  }

  /** Moves the cells to a larger table. A place may take one more bit, which leaves one less of the hash. */
  #spreadCells(): void {
    const [cellsBefore, bitsBefore, maskBefore] = [this.#cells, this.#placeBits, this.#placeMask];
    const places = this.#lows.length;
    const cells = new Int32Array(Math.ceil(places * 1.25) + 1);
    this.#cells = cells;
    this.#cellsPerHash = cells.length / 4_294_967_296;
    this.#placeBits = Math.ceil(Math.log2(places + 1));
    this.#placeMask = 2 ** this.#placeBits - 1;
    for (const content of cellsBefore) {
      if (content === 0) continue;
      const number = content & maskBefore;
      let cell = this.#home(this.#lows[number - 1] ?? 0);
      while (cells[cell] !== 0) cell = cell + 1 === cells.length ? 0 : cell + 1;
      cells[cell] = ((content >> bitsBefore) << this.#placeBits) | number;
    }
  }
}
