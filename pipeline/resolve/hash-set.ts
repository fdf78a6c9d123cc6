/**
 * A set of 64-bit hashes that forgets the oldest first. A ring keeps the hashes in the order they came (8 bytes each);
 * an open-addressing table of 32-bit cells (linear probing, at most 4 in 5 full) finds them: position in the ring plus
 * as many bits of the hash as are left, so that a look-up rarely leaves the table. About 13 bytes a hash when full.
 */
export class HashSet {
  readonly #capacityMax: number;
  #capacity: number;
  #ringHigh: Uint32Array;
  #ringLow: Uint32Array;
  /** 0 is free; else tag bits above, position in the ring + 1 below. */
  #cells: Uint32Array;
  #positionBits = 0;
  #positionMask = 0;
  /** Hashes ever added; the ring holds the newest `#size` of them. */
  #added = 0;
  #size = 0;

  constructor(capacityMax: number, capacity = 1_024) {
    this.#capacityMax = capacityMax;
    this.#capacity = Math.min(capacity, capacityMax);
    this.#ringHigh = new Uint32Array(this.#capacity);
    this.#ringLow = new Uint32Array(this.#capacity);
    this.#cells = new Uint32Array(0);
    this.#buildCells();
  }

  get size(): number {
    return this.#size;
  }

  /** Hashes ever added. Those from `added - size` on are held. */
  get added(): number {
    return this.#added;
  }

  get bytes(): number {
    return this.#ringHigh.byteLength + this.#ringLow.byteLength + this.#cells.byteLength;
  }

  has(high: number, low: number): boolean {
    return this.#cellOf(high, low) >= 0;
  }

  /** Adds a hash; when full, the oldest goes. False when it was there already. */
  add(high: number, low: number): boolean {
    const cells = this.#cells;
    const tag = this.#tag(high);
    // Looks for it and for its place at once: of a table that is filled with millions this is the whole time.
    let cell = this.#home(low);
    for (let content = cells[cell] ?? 0; content !== 0; content = cells[cell] ?? 0) {
      if (this.#isAt(content, tag, high, low)) return false;
      cell = cell + 1 === cells.length ? 0 : cell + 1;
    }
    const isFull = this.#size === this.#capacity;
    if (isFull) {
      if (this.#capacity < this.#capacityMax) this.#resize(Math.min(this.#capacity * 2, this.#capacityMax));
      else this.dropOldest(1);
    }
    const position = this.#added % this.#capacity;
    this.#ringHigh[position] = high;
    this.#ringLow[position] = low;
    this.#added += 1;
    this.#size += 1;
    if (isFull) this.#occupy(position);
    else cells[cell] = tag + position + 1;
    return true;
  }

  /** Makes room for so many hashes, or for as many as it may hold. */
  reserve(size: number): void {
    const capacity = Math.min(size, this.#capacityMax);
    if (capacity > this.#capacity) this.#resize(capacity);
  }

  dropOldest(count: number): void {
    for (let left = Math.min(count, this.#size); left > 0; left -= 1) {
      const position = (this.#added - this.#size) % this.#capacity;
      this.#size -= 1;
      this.#free(this.#cellOf(this.#ringHigh[position] ?? 0, this.#ringLow[position] ?? 0));
    }
  }

  #home(low: number): number {
    // Multiply and shift spreads a 32-bit hash over any number of cells.
    return Math.floor((low / 4_294_967_296) * this.#cells.length);
  }

  #tag(high: number): number {
    return (high << this.#positionBits) >>> 0;
  }

  #cellOf(high: number, low: number): number {
    const cells = this.#cells;
    const tag = this.#tag(high);
    for (let cell = this.#home(low); ; cell = cell + 1 === cells.length ? 0 : cell + 1) {
      const content = cells[cell] ?? 0;
      if (content === 0) return -1;
      if (this.#isAt(content, tag, high, low)) return cell;
    }
  }

  #isAt(content: number, tag: number, high: number, low: number): boolean {
    const position = (content & this.#positionMask) - 1;
    if (content - position - 1 !== tag) return false;
    return this.#ringHigh[position] === high && this.#ringLow[position] === low;
  }

  #occupy(position: number): void {
    const cells = this.#cells;
    let cell = this.#home(this.#ringLow[position] ?? 0);
    while (cells[cell] !== 0) cell = cell + 1 === cells.length ? 0 : cell + 1;
    cells[cell] = this.#tag(this.#ringHigh[position] ?? 0) + position + 1;
  }

  /** Empties a cell and moves up what had to give way to it, so that no look-up stops early. */
  #free(cell: number): void {
    const cells = this.#cells;
    const length = cells.length;
    let hole = cell;
    for (let next = (cell + 1) % length; ; next = next + 1 === length ? 0 : next + 1) {
      const content = cells[next] ?? 0;
      if (content === 0) break;
      const home = this.#home(this.#ringLow[(content & this.#positionMask) - 1] ?? 0);
      // The entry may move into the hole if its home is not between the hole and where it stands.
      if ((next - home + length) % length >= (next - hole + length) % length) {
        cells[hole] = content;
        hole = next;
      }
    }
    cells[hole] = 0;
  }

  #resize(capacity: number): void {
    const high = new Uint32Array(capacity);
    const low = new Uint32Array(capacity);
    for (let index = this.#added - this.#size; index < this.#added; index += 1) {
      high[index % capacity] = this.#ringHigh[index % this.#capacity] ?? 0;
      low[index % capacity] = this.#ringLow[index % this.#capacity] ?? 0;
    }
    this.#capacity = capacity;
    this.#ringHigh = high;
    this.#ringLow = low;
    this.#buildCells();
  }

  #buildCells(): void {
    this.#positionBits = Math.ceil(Math.log2(this.#capacity + 1));
    this.#positionMask = 2 ** this.#positionBits - 1;
    this.#cells = new Uint32Array(Math.ceil(this.#capacity * 1.25) + 1);
    for (let index = this.#added - this.#size; index < this.#added; index += 1) this.#occupy(index % this.#capacity);
  }
}
