import { murmur3 } from '../../shared/runtime/murmur3.ts';

/** Load of a thread: its actors of the kind to be placed, and the weight of all its actors. */
export type ThreadLoad = { readonly ofKind: number; readonly weight: number };

export type ThreadLoads = ReadonlyMap<number, ThreadLoad>;

/**
 * The thread for an actor: one with the fewest of its kind, since kinds weigh differently; of those the one with the
 * least weight on it; among those the one its id weighs highest on (rendezvous hashing), so that the same actors come
 * back to the same threads. Undefined when there is no thread.
 */
export function placeActor(actorId: string, loads: ThreadLoads): number | undefined {
  const least = [...loads.values()].toSorted(compareLoads)[0];
  let best: { readonly thread: number; readonly weight: number } | undefined;
  for (const [thread, load] of loads) {
    if (least !== undefined && compareLoads(load, least) > 0) continue;
    const weight = murmur3(`${actorId}@${thread}`);
    if (best === undefined || weight > best.weight) best = { thread, weight };
  }
  return best?.thread;
}

const compareLoads = (a: ThreadLoad, b: ThreadLoad): number => a.ofKind - b.ofKind || a.weight - b.weight;

/** An actor that runs on a thread. */
export type Placed = { readonly actorId: string; readonly thread: number };

/**
 * Which actors should move so that no thread has more than one above another: as few as that takes. Threads that died
 * and came back are empty, while the others do their work.
 */
export function planMoves(placed: readonly Placed[], threads: readonly number[]): string[] {
  const byThread = new Map<number, string[]>(threads.map((thread) => [thread, []]));
  for (const { actorId, thread } of placed) byThread.get(thread)?.push(actorId);
  const groups = [...byThread.values()];
  if (groups.length === 0) return [];
  const total = groups.reduce((sum, group) => sum + group.length, 0);
  const share = Math.floor(total / groups.length);
  // This many threads may have one actor more than the average; the fullest ones keep theirs.
  let oneMore = total % groups.length;
  const moves: string[] = [];
  for (const group of groups.toSorted((a, b) => b.length - a.length)) {
    const allowed = share + (oneMore > 0 ? 1 : 0);
    if (group.length >= allowed) oneMore -= 1;
    moves.push(...group.slice(allowed));
  }
  return moves;
}
