import { murmur3 } from '../../shared/runtime/murmur3.ts';

/** Load of a thread: its actors of the kind to be placed, and the weight of all its actors. */
export type ThreadLoad = { readonly ofKind: number; readonly weight: number };

export type ThreadLoads = ReadonlyMap<number, ThreadLoad>;

/**
 * The thread for an actor. Threads with the fewest actors of its kind come first, since kinds have different weights.
 * Among these, threads with the least total weight come first; among these, rendezvous hashing of the actor's id
 * decides, so that actors return to their threads. Undefined if there are no threads.
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
 * The smallest set of actors that must move so that the numbers of actors of any two threads differ by at most one. A
 * thread that died and was restarted is empty, and the other threads do its work.
 */
export function planMoves(placed: readonly Placed[], threads: readonly number[]): string[] {
  const byThread = new Map<number, string[]>(threads.map((thread) => [thread, []]));
  for (const { actorId, thread } of placed) byThread.get(thread)?.push(actorId);
  const groups = [...byThread.values()];
  if (groups.length === 0) return [];
  const total = groups.reduce((sum, group) => sum + group.length, 0);
  const share = Math.floor(total / groups.length);
  // `oneMore` threads may have one actor more than the others; the fullest threads keep theirs.
  let oneMore = total % groups.length;
  const moves: string[] = [];
  for (const group of groups.toSorted((a, b) => b.length - a.length)) {
    const allowed = share + (oneMore > 0 ? 1 : 0);
    if (group.length >= allowed) oneMore -= 1;
    moves.push(...group.slice(allowed));
  }
  return moves;
}
