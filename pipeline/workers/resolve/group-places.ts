import { accountGroups } from '../../../shared/contracts/events/event-hash.ts';

/** Places are given to a group in blocks of this many: a power of two. */
const blockSize = 8;
/** With this many more places than are taken a block is always free: each group may have two partly used ones. */
const sparePlaces = accountGroups * 2 * (blockSize - 1) + blockSize;

/** Number of places of which `taken` can be taken, whatever the groups. */
export const placesFor = (taken: number): number => wholeBlocks(taken + sparePlaces);

const wholeBlocks = (places: number): number => Math.ceil(places / blockSize) * blockSize;

/**
 * The places of a list, which groups of accounts take and give back in the same order. A group has linked blocks of
 * places, so that any group may have nearly all places and no place is reserved.
 */
export class GroupPlaces {
  /** For each block, the next block of its group, or the next free block; -1 if there is none. */
  #nextBlocks = new Int32Array(0);
  #freeBlock = -1;
  /** Of each group: the number of its places, its oldest place, and the place after its newest. */
  readonly #taken = new Int32Array(accountGroups);
  readonly #oldest = new Int32Array(accountGroups);
  readonly #ends = new Int32Array(accountGroups);

  get bytes(): number {
    return this.#nextBlocks.byteLength + 3 * this.#taken.byteLength;
  }

  /** The number of places of a group. */
  taken(group: number): number {
    return this.#taken[group] ?? 0;
  }

  oldest(group: number): number {
    return this.#oldest[group] ?? 0;
  }

  /** The group with the most places: the given one if none has more. */
  largest(group: number): number {
    const taken = this.#taken;
    let largest = group;
    for (let other = 0; other < accountGroups; other += 1) {
      if ((taken[other] ?? 0) > (taken[largest] ?? 0)) largest = other;
    }
    return largest;
  }

  /** Takes a place for a group; -1 if it needs a block and none is free. */
  take(group: number): number {
    const end = this.#ends[group] ?? 0;
    let place = end;
    if ((end & (blockSize - 1)) === 0) {
      const block = this.#freeBlock;
      if (block < 0) return -1;
      this.#freeBlock = this.#nextBlocks[block] ?? -1;
      place = block * blockSize;
      if (this.#taken[group] === 0) this.#oldest[group] = place;
      else this.#nextBlocks[end / blockSize - 1] = block;
    }
    this.#ends[group] = place + 1;
    this.#taken[group] = (this.#taken[group] ?? 0) + 1;
    return place;
  }

  /** Gives back the oldest place of a group that has one. */
  giveBack(group: number): void {
    const place = this.#oldest[group] ?? 0;
    const left = (this.#taken[group] ?? 0) - 1;
    this.#taken[group] = left;
    if (left > 0 && ((place + 1) & (blockSize - 1)) !== 0) {
      this.#oldest[group] = place + 1;
      return;
    }
    const block = Math.floor(place / blockSize);
    if (left > 0) this.#oldest[group] = (this.#nextBlocks[block] ?? 0) * blockSize;
    else this.#ends[group] = 0;
    this.#nextBlocks[block] = this.#freeBlock;
    this.#freeBlock = block;
  }

  /** Adds free places, until there are at least this many. Returns their number. */
  grow(places: number): number {
    const before = this.#nextBlocks;
    const nextBlocks = new Int32Array(wholeBlocks(places) / blockSize);
    nextBlocks.set(before);
    for (let block = nextBlocks.length - 1; block >= before.length; block -= 1) {
      nextBlocks[block] = this.#freeBlock;
      this.#freeBlock = block;
    }
    this.#nextBlocks = nextBlocks;
    return nextBlocks.length * blockSize;
  }
}
