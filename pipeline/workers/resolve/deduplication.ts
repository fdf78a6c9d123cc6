import type { IdRun } from '../../../shared/contracts/events/checkpoint.ts';
import { bytesPerHash } from '../../../shared/contracts/events/event-hash.ts';
import type { EventHash } from '../../../shared/contracts/events/event-hash.ts';
import { HashSet } from './hash-set.ts';

/** The recent events of a partition, by the hash of their ids. */
export type Deduplication = {
  /** Records an event; false if it is already known. `timeMs` is when the log stored it and never decreases. */
  add(hash: EventHash, timeMs: number): boolean;
  /** Whether an event is known. */
  has(hash: EventHash): boolean;
  /** Records events by their packed hashes, see `encodeHashes`. */
  addPacked(run: IdRun): void;
  /** As `addPacked`, for many runs, oldest first: several times as fast for millions of events. */
  addRuns(runs: readonly IdRun[]): void;
  /** Makes room for this many events at once, rather than in steps. */
  reserve(ids: number): void;
  /** Until this time, in ms since the epoch, an event may repeat one that was recorded from packed hashes. */
  readonly packedForMs: number;
  /** The latest time of a recorded event. */
  readonly timeMs: number;
  readonly size: number;
  readonly bytes: number;
  /** How far back every event is recognised, in ms: the window, or less if the table became full earlier. */
  readonly effectiveWindowMs: number;
};

export type DeduplicationSettings = {
  readonly windowMs: number;
  /** Maximum number of ids in the table. Memory grows with use, to about 13 bytes per id when full. */
  readonly idsMax: number;
};

// The table is divided into parts: growing one part at a time keeps pauses short, and a part that fits into a
// processor's cache fills quickly.
const partsMin = 16;
const partsMax = 256;
const idsPerPart = 32_768;
/** Hashes are spread over the parts slightly unevenly. */
const unevenness = 1 / 32;
/** Number of steps per window in which ids are forgotten; an id may stay one step longer. */
const stepsPerWindow = 256;

/** The resolution of the times in the table, in ms. */
export function deduplicationStepMs({ windowMs }: DeduplicationSettings): number {
  return Math.max(1, Math.floor(windowMs / stepsPerWindow));
}

/** Makes an empty deduplication table, bounded by time and by count. */
export function createDeduplication(settings: DeduplicationSettings): Deduplication {
  const stepMs = deduplicationStepMs(settings);
  const parts = partsFor(settings.idsMax);
  const sets = Array.from({ length: parts }, () => new AgingSet(settings, parts, stepMs));
  let nowMs = 0;
  let packedAtMs = 0;
  const setOf = (low: number): AgingSet => setAt(sets, low & (parts - 1));
  return {
    add({ high, low }, timeMs) {
      nowMs = Math.max(nowMs, timeMs);
      return setOf(low).add(high, low, nowMs);
    },
    has: ({ high, low }) => setOf(low).has(high, low),
    addPacked({ ids, timeMs }) {
      nowMs = Math.max(nowMs, timeMs);
      packedAtMs = nowMs;
      // Reads the numbers directly, without creating an object for each hash.
      const view = viewOf(ids);
      for (let at = 0; at + bytesPerHash <= view.byteLength; at += bytesPerHash) {
        const low = view.getUint32(at + 4);
        setOf(low).add(view.getUint32(at), low, nowMs);
      }
    },
    addRuns(runs) {
      const sorted = sortByPart(runs, parts);
      for (const [index, set] of sets.entries()) {
        let at = sorted.starts[index] ?? 0;
        for (const [run, { timeMs }] of runs.entries()) {
          const end = at + (sorted.counts[run * parts + index] ?? 0);
          set.addAll(sorted.hashes, at, end, Math.max(nowMs, timeMs));
          at = end;
        }
      }
      for (const { timeMs } of runs) nowMs = Math.max(nowMs, timeMs);
      packedAtMs = nowMs;
    },
    reserve(ids) {
      for (const set of sets) set.reserve(Math.ceil((ids / parts) * (1 + unevenness)));
    },
    get packedForMs() {
      // An id is held for up to a step longer than the window.
      return packedAtMs + settings.windowMs + stepMs;
    },
    get timeMs() {
      return nowMs;
    },
    get size() {
      return sets.reduce((sum, set) => sum + set.size, 0);
    },
    get bytes() {
      return sets.reduce((sum, set) => sum + set.bytes, 0);
    },
    get effectiveWindowMs() {
      return sets.reduce((least, set) => Math.min(least, set.effectiveWindowMs(nowMs)), settings.windowMs);
    },
  };
}

/** The number of parts of a table: a power of two. */
function partsFor(idsMax: number): number {
  let parts = partsMin;
  while (parts < partsMax && idsMax / parts > idsPerPart) parts *= 2;
  return parts;
}

const viewOf = (ids: Uint8Array): DataView => new DataView(ids.buffer, ids.byteOffset, ids.byteLength);

/**
 * Sorts hashes by part and keeps their order within each part, so that a part stays in the processor's cache while it
 * is filled. In the order of arrival, each hash would have to wait for memory.
 */
function sortByPart(runs: readonly IdRun[], parts: number) {
  const counts = new Uint32Array(runs.length * parts);
  const starts = new Uint32Array(parts + 1);
  for (const [run, { ids }] of runs.entries()) {
    const view = viewOf(ids);
    for (let at = 0; at + bytesPerHash <= view.byteLength; at += bytesPerHash) {
      const part = view.getUint32(at + 4) & (parts - 1);
      counts[run * parts + part] = (counts[run * parts + part] ?? 0) + 1;
      starts[part + 1] = (starts[part + 1] ?? 0) + 1;
    }
  }
  for (let part = 0; part < parts; part += 1) starts[part + 1] = (starts[part + 1] ?? 0) + (starts[part] ?? 0);
  const hashes = new Int32Array((starts[parts] ?? 0) * 2);
  const next = starts.slice();
  for (const { ids } of runs) {
    const view = viewOf(ids);
    for (let at = 0; at + bytesPerHash <= view.byteLength; at += bytesPerHash) {
      const low = view.getInt32(at + 4);
      const part = low & (parts - 1);
      const place = next[part] ?? 0;
      hashes[place * 2] = view.getInt32(at);
      hashes[place * 2 + 1] = low;
      next[part] = place + 1;
    }
  }
  return { counts, starts, hashes };
}

/** Hashes with the times at which they were added, at the resolution of a step. */
class AgingSet {
  readonly #set: HashSet;
  readonly #windowMs: number;
  readonly #stepMs: number;
  /** The first hash of each step, oldest first. At most about `stepsPerWindow` entries. */
  readonly #steps: { readonly from: number; readonly timeMs: number }[] = [];
  /** Number of the oldest hash that remained when the limit on the count, not the window, last removed one. */
  #evictedTo = 0;
  #addedAtMs: number | undefined;

  constructor({ windowMs, idsMax }: DeduplicationSettings, parts: number, stepMs: number) {
    this.#set = new HashSet(Math.max(1, Math.ceil(idsMax / parts)));
    this.#windowMs = windowMs;
    this.#stepMs = stepMs;
  }

  get size(): number {
    return this.#set.size;
  }

  get bytes(): number {
    return this.#set.bytes;
  }

  has(high: number, low: number): boolean {
    return this.#set.has(high, low);
  }

  add(high: number, low: number, nowMs: number): boolean {
    const set = this.#set;
    const isLater = nowMs !== this.#addedAtMs;
    if (isLater) this.#expire(nowMs);
    const before = set.size;
    if (!set.add(high, low)) return false;
    if (isLater) this.#step(nowMs, set.added - 1);
    if (set.size === before) this.#evictedTo = set.added - before;
    return true;
  }

  /** As `add`, for a range of a list, see `HashSet.addAll`. */
  addAll(hashes: Int32Array, from: number, to: number, nowMs: number): void {
    if (from === to) return;
    const set = this.#set;
    const isLater = nowMs !== this.#addedAtMs;
    if (isLater) this.#expire(nowMs);
    const { added, size } = set;
    set.addAll(hashes, from, to);
    if (set.added === added) return;
    if (isLater) this.#step(nowMs, added);
    if (set.added - added > set.size - size) this.#evictedTo = set.added - set.size;
  }

  reserve(ids: number): void {
    this.#set.reserve(ids);
  }

  effectiveWindowMs(nowMs: number): number {
    const oldest = this.#set.added - this.#set.size;
    if (this.#evictedTo !== oldest || oldest === 0) return this.#windowMs;
    const step = this.#steps.find((step) => step.from >= oldest);
    return Math.min(this.#windowMs, step === undefined ? 0 : nowMs - step.timeMs);
  }

  /** Records that hash number `from` is the first one that was added at `nowMs`. */
  #step(nowMs: number, from: number): void {
    this.#addedAtMs = nowMs;
    const last = this.#steps.at(-1);
    if (last !== undefined && nowMs - last.timeMs < this.#stepMs) return;
    this.#steps.push({ from, timeMs: nowMs });
  }

  #expire(nowMs: number): void {
    for (;;) {
      const first = this.#steps[0];
      if (first === undefined || first.timeMs + this.#stepMs + this.#windowMs > nowMs) return;
      this.#steps.shift();
      const keepFrom = this.#steps[0]?.from ?? this.#set.added;
      const oldest = this.#set.added - this.#set.size;
      if (keepFrom > oldest) this.#set.dropOldest(keepFrom - oldest);
    }
  }
}

function setAt(sets: readonly AgingSet[], index: number): AgingSet {
  const set = sets[index];
  if (set === undefined) throw new RangeError('looking up an event hash: no such part');
  return set;
}
