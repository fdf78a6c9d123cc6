/**
 * A set of 64-bit hashes that forgets the oldest first. A ring keeps the hashes in the order of arrival (8 bytes each);
 * an open-addressing table of 32-bit cells (linear probing, at most 4 in 5 full) finds them. A cell holds the position
 * in the ring plus as many bits of the hash as fit, so that a look-up rarely has to read the ring. About 13 bytes per
 * hash when full.
 */
export class HashSet {
  readonly #capacityMax: number;
  #capacity: number;
  // Signed, since the engine has no small integers above 31 bits; the bits are the same.
  #ringHigh: Int32Array;
  #ringLow: Int32Array;
  /** 0 if the cell is free; otherwise tag bits of a hash above, and its position in the ring + 1 below. */
  #cells = new Int32Array(0);
  #cellsPerHash = 0;
  #positionBits = 0;
  #positionMask = 0;
  /** Number of hashes ever added; the ring holds the newest `#size` of them. */
  #added = 0;
  #size = 0;
  /** Place of the next hash in the ring. */
  #next = 0;

  constructor(capacityMax: number, capacity = 1_024) {
    this.#capacityMax = capacityMax;
    this.#capacity = Math.min(capacity, capacityMax);
    this.#ringHigh = new Int32Array(this.#capacity);
    this.#ringLow = new Int32Array(this.#capacity);
    this.#buildCells();
  }

  get size(): number {
    return this.#size;
  }

  /** Number of hashes ever added. The set holds the newest: those with the numbers from `added - size` on. */
  get added(): number {
    return this.#added;
  }

  get bytes(): number {
    return this.#ringHigh.byteLength + this.#ringLow.byteLength + this.#cells.byteLength;
  }

  has(high: number, low: number): boolean {
    return this.#cellOf(high | 0, low | 0) >= 0;
  }

  /** Adds a hash; if the set is full, the oldest hash is removed. Returns false if the hash is already in the set. */
  add(high: number, low: number): boolean {
    // One probe finds a hash and its cell: filling a table with millions of hashes takes nearly all of its time here.
    let cell = this.#probe(high | 0, low | 0);
    if (this.#cells[cell] !== 0) return false;
    if (this.#size === this.#capacity) {
      if (this.#capacity < this.#capacityMax) this.#resize(Math.min(this.#capacity * 2, this.#capacityMax));
      else this.dropOldest(1);
      cell = this.#probe(high | 0, low | 0);
    }
    const position = this.#next;
    this.#ringHigh[position] = high;
    this.#ringLow[position] = low;
    this.#cells[cell] = (high << this.#positionBits) | (position + 1);
    this.#next = position + 1 === this.#capacity ? 0 : position + 1;
    this.#added += 1;
    this.#size += 1;
    return true;
  }

  /**
   * Adds the hashes `from` up to, but not including, `to` of a list in which each hash is two numbers: its high half,
   * then its low half. Has the same effect as `add` for each, and is faster if there is room.
   */
  addAll(hashes: Int32Array, from: number, to: number): void {
    for (let at = from; at < to;) {
      if (this.#size === this.#capacity) {
        this.add(hashes[at * 2] ?? 0, hashes[at * 2 + 1] ?? 0);
        at += 1;
        continue;
      }
      const end = Math.min(to, at + this.#capacity - this.#size);
      this.#fill(hashes, at, end);
      at = end;
    }
  }

  /** Adds hashes for which there is room. */
  #fill(hashes: Int32Array, from: number, to: number): void {
    // Local copies of the fields, for a loop over millions of hashes.
    const ringHigh = this.#ringHigh;
    const ringLow = this.#ringLow;
    const cells = this.#cells;
    const length = cells.length;
    const cellsPerHash = this.#cellsPerHash;
    const bits = this.#positionBits;
    const mask = this.#positionMask;
    const capacity = this.#capacity;
    let next = this.#next;
    let added = 0;
    for (let at = from; at < to; at += 1) {
      const high = hashes[at * 2] ?? 0;
      const low = hashes[at * 2 + 1] ?? 0;
      const tag = high << bits;
      let cell = ((low >>> 0) * cellsPerHash) | 0;
      let content = cells[cell] ?? 0;
      while (content !== 0) {
        if ((content & ~mask) === tag) {
          const position = (content & mask) - 1;
          if (ringHigh[position] === high && ringLow[position] === low) break;
        }
        cell = cell + 1 === length ? 0 : cell + 1;
        content = cells[cell] ?? 0;
      }
      if (content !== 0) continue;
      ringHigh[next] = high;
      ringLow[next] = low;
      cells[cell] = tag | (next + 1);
      next = next + 1 === capacity ? 0 : next + 1;
      added += 1;
    }
    this.#next = next;
    this.#added += added;
    this.#size += added;
  }

  /** Makes room for this many hashes, but at most for the set's maximum. */
  reserve(size: number): void {
    const capacity = Math.min(size, this.#capacityMax);
    if (capacity > this.#capacity) this.#resize(capacity);
  }

  dropOldest(count: number): void {
    for (let left = Math.min(count, this.#size); left > 0; left -= 1) {
      const position = this.#oldestPosition();
      this.#size -= 1;
      this.#free(this.#cellOf(this.#ringHigh[position] ?? 0, this.#ringLow[position] ?? 0));
    }
  }

  #oldestPosition(): number {
    const position = this.#next - this.#size;
    return position < 0 ? position + this.#capacity : position;
  }

  #home(low: number): number {
    // Multiplying and taking the upper half spreads a 32-bit hash over any number of cells.
    return ((low >>> 0) * this.#cellsPerHash) | 0;
  }

  /** The cell of a hash or, if the hash is missing, the free cell that it would get. Both halves are signed. */
  #probe(high: number, low: number): number {
    const cells = this.#cells;
    const mask = this.#positionMask;
    const tag = high << this.#positionBits;
    for (let cell = this.#home(low); ; cell = cell + 1 === cells.length ? 0 : cell + 1) {
      const content = cells[cell] ?? 0;
      if (content === 0) return cell;
      if ((content & ~mask) !== tag) continue;
      const position = (content & mask) - 1;
      if (this.#ringHigh[position] === high && this.#ringLow[position] === low) return cell;
    }
  }

  #cellOf(high: number, low: number): number {
    const cell = this.#probe(high, low);
    return this.#cells[cell] === 0 ? -1 : cell;
  }

  /** Empties a cell and moves displaced entries closer to their homes, so that no look-up stops early. */
  #free(cell: number): void {
    const cells = this.#cells;
    const length = cells.length;
    let hole = cell;
    for (let next = (cell + 1) % length; ; next = next + 1 === length ? 0 : next + 1) {
      const content = cells[next] ?? 0;
      if (content === 0) break;
      const home = this.#home(this.#ringLow[(content & this.#positionMask) - 1] ?? 0);
      // The entry may move into the hole if its home is not between the hole and its cell.
      if ((next - home + length) % length >= (next - hole + length) % length) {
        cells[hole] = content;
        hole = next;
      }
    }
    cells[hole] = 0;
  }

  #resize(capacity: number): void {
    const high = new Int32Array(capacity);
    const low = new Int32Array(capacity);
    let from = this.#oldestPosition();
    for (let index = 0; index < this.#size; index += 1) {
      high[index] = this.#ringHigh[from] ?? 0;
      low[index] = this.#ringLow[from] ?? 0;
      from = from + 1 === this.#capacity ? 0 : from + 1;
    }
    this.#capacity = capacity;
    this.#next = this.#size === capacity ? 0 : this.#size;
    this.#ringHigh = high;
    this.#ringLow = low;
    this.#buildCells();
  }

  /** Builds the table for a ring whose position 0 has the oldest hash. */
  #buildCells(): void {
    this.#positionBits = Math.ceil(Math.log2(this.#capacity + 1));
    this.#positionMask = 2 ** this.#positionBits - 1;
    this.#cells = new Int32Array(Math.ceil(this.#capacity * 1.25) + 1);
    this.#cellsPerHash = this.#cells.length / 4_294_967_296;
    for (let position = 0; position < this.#size; position += 1) {
      const high = this.#ringHigh[position] ?? 0;
      const cell = this.#probe(high, this.#ringLow[position] ?? 0);
      this.#cells[cell] = (high << this.#positionBits) | (position + 1);
    }
  }
}
