import { murmur3 } from '../../shared/hashing/murmur3.ts';

/** Actors there are on each thread, by thread. */
export type ThreadLoads = ReadonlyMap<number, number>;

/**
 * The thread for an actor: one of the least loaded; among those the one its id weighs highest on (rendezvous hashing),
 * so that the same actors come back to the same threads. Undefined when there is no thread.
 */
export function placeActor(actorId: string, loads: ThreadLoads): number | undefined {
  const least = Math.min(...loads.values());
  let best: { readonly thread: number; readonly weight: number } | undefined;
  for (const [thread, load] of loads) {
    if (load > least) continue;
    const weight = murmur3(`${actorId}@${thread}`);
    if (best === undefined || weight > best.weight) best = { thread, weight };
  }
  return best?.thread;
}
