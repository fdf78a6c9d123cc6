import type { IdRun } from '../../../shared/contracts/events/checkpoint.ts';
import { bytesPerHash, groupBits } from '../../../shared/contracts/events/event-hash.ts';
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
  /** Records that a packed id of this time, in ms since the epoch, is of an earlier build: its hash has no group. */
  noteUngrouped(timeMs: number): void;
  /** The latest time of an id without a group; 0 if there is none. */
  readonly ungroupedUntilMs: number;
  /** Whether an event of this time may repeat one whose id has no group. */
  mayRepeatUngrouped(timeMs: number): boolean;
  /** The latest time of a recorded event. */
  readonly timeMs: number;
  readonly size: number;
  readonly bytes: number;
  /** How far back every event is recognised, in ms: the window, or less if the table became full earlier. */
  readonly effectiveWindowMs: number;
};

export type DeduplicationSettings = {
  readonly windowMs: number;
  /**
   * Maximum number of ids in the table. Memory grows with use, to about 13 bytes per id when full. Then the oldest id of
   * the group of accounts with the most ids is forgotten: an account displaces no ids of a group that has fewer.
   */
  readonly idsMax: number;
};

// The table is divided into parts: growing one part at a time keeps pauses short, and a part that fits into a
// processor's cache fills quickly.
const partsMin = 16;
const idsPerPart = 32_768;
/** Memory at the start: for this many ids in all parts together, but for at most 1,024 in one. */
const idsAtStart = 262_144;
/** Hashes are spread over the parts slightly unevenly. */
const unevenness = 1 / 32;
/** Maximum number of steps per window in which ids are forgotten; an id may stay one step longer. A set has 256 steps. */
const stepsPerWindow = 254;

/** The resolution of the times in the table, in ms. */
export function deduplicationStepMs({ windowMs }: DeduplicationSettings): number {
  return Math.max(1, Math.ceil(windowMs / stepsPerWindow));
}

/** Makes an empty deduplication table, bounded by time and by count. */
export function createDeduplication(settings: DeduplicationSettings): Deduplication {
  const { windowMs, idsMax } = settings;
  const stepMs = deduplicationStepMs(settings);
  const parts = partsFor(idsMax);
  const [sizeMax, places] = [Math.max(1, Math.ceil(idsMax / parts)), Math.min(1_024, idsAtStart / parts)];
  const sets = Array.from({ length: parts }, () => new HashSet(sizeMax, places));
  let nowMs = 0;
  let ungroupedUntilMs = 0;
  let steps: Steps = { now: 0, keptFrom: 0 };
  const advance = (timeMs: number): Steps => {
    if (timeMs <= nowMs) return steps;
    nowMs = timeMs;
    steps = { now: Math.floor(nowMs / stepMs), keptFrom: Math.floor((nowMs - windowMs) / stepMs) };
    return steps;
  };
  const setOf = (low: number): HashSet => elementOf(sets, partOf(low, parts));
  const add = (high: number, low: number): boolean => {
    const set = setOf(low);
    set.keepFrom(steps.keptFrom);
    return set.add(high, low, steps.now);
  };
  return {
    add({ high, low }, timeMs) {
      advance(timeMs);
      return add(high, low);
    },
    has: ({ high, low }) => setOf(low).has(high, low),
    addPacked({ ids, timeMs }) {
      advance(timeMs);
      // Reads the numbers directly, without creating an object for each hash.
      const view = viewOf(ids);
      for (let at = 0; at + bytesPerHash <= view.byteLength; at += bytesPerHash) {
        add(view.getUint32(at), view.getUint32(at + 4));
      }
    },
    addRuns(runs) {
      const times = runs.map(({ timeMs }) => advance(timeMs));
      addByPart(sets, runs, times);
    },
    noteUngrouped(timeMs) {
      ungroupedUntilMs = Math.max(ungroupedUntilMs, timeMs);
    },
    get ungroupedUntilMs() {
      return ungroupedUntilMs;
    },
    // An id is held for up to a step longer than the window.
    mayRepeatUngrouped: (timeMs) => timeMs <= ungroupedUntilMs + windowMs + stepMs,
    reserve(ids) {
      for (const set of sets) set.reserve(Math.ceil((ids / parts) * (1 + unevenness)));
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
      const evictedStep = sets.reduce((latest, set) => Math.max(latest, set.evictedStep), -Infinity);
      return Math.max(0, Math.min(windowMs, nowMs - (evictedStep + 1) * stepMs));
    },
  };
}

/** The step of a time, and the oldest step of which ids are within the window then. */
type Steps = { readonly now: number; readonly keptFrom: number };

/** The number of parts of a table: a power of two. */
function partsFor(idsMax: number): number {
  let parts = partsMin;
  while (idsMax / parts > idsPerPart) parts *= 2;
  return parts;
}

/** The part of a hash: the bits above its group, so that each group is spread over all parts. */
const partOf = (low: number, parts: number): number => (low >>> groupBits) & (parts - 1);

const viewOf = (ids: Uint8Array): DataView => new DataView(ids.buffer, ids.byteOffset, ids.byteLength);

/** Adds runs of hashes, whose times are given as steps, one part after the other. */
function addByPart(sets: readonly HashSet[], runs: readonly IdRun[], times: readonly Steps[]): void {
  const { hashes, runOf, starts } = sortByPart(runs, sets.length);
  for (const [part, set] of sets.entries()) {
    const end = starts[part + 1] ?? 0;
    for (let at = starts[part] ?? 0; at < end;) {
      const from = at;
      const run = runOf[at] ?? 0;
      while (at < end && runOf[at] === run) at += 1;
      const { now, keptFrom } = elementOf(times, run);
      set.keepFrom(keptFrom);
      set.addAll(hashes, from, at, now);
    }
  }
}

/**
 * Sorts hashes by part and keeps their order within each part, so that a part stays in the processor's cache while it
 * is filled. In the order of arrival, each hash would have to wait for memory.
 */
function sortByPart(runs: readonly IdRun[], parts: number) {
  const starts = new Uint32Array(parts + 1);
  for (const { ids } of runs) {
    const view = viewOf(ids);
    for (let at = 0; at + bytesPerHash <= view.byteLength; at += bytesPerHash) {
      const part = partOf(view.getUint32(at + 4), parts);
      starts[part + 1] = (starts[part + 1] ?? 0) + 1;
    }
  }
  for (let part = 0; part < parts; part += 1) starts[part + 1] = (starts[part + 1] ?? 0) + (starts[part] ?? 0);
  const hashes = new Int32Array((starts[parts] ?? 0) * 2);
  const runOf = new Uint32Array(starts[parts] ?? 0);
  const next = starts.slice();
  for (const [run, { ids }] of runs.entries()) {
    const view = viewOf(ids);
    for (let at = 0; at + bytesPerHash <= view.byteLength; at += bytesPerHash) {
      const low = view.getInt32(at + 4);
      const part = partOf(low, parts);
      const place = next[part] ?? 0;
      hashes[place * 2] = view.getInt32(at);
      hashes[place * 2 + 1] = low;
      runOf[place] = run;
      next[part] = place + 1;
    }
  }
  return { hashes, runOf, starts };
}

function elementOf<Element>(list: readonly Element[], index: number): Element {
  const element = list[index];
  if (element === undefined) throw new RangeError('recording event hashes: no such part or run');
  return element;
}
