import { murmur3 } from '../../shared/runtime/murmur3.ts';

/**
 * The instance that runs an actor: the one its id weighs highest with (rendezvous hashing). Everybody who knows the
 * same instances names the same one, and when one comes or goes only its own actors move. Undefined without any.
 */
export function ownerOf(actorId: string, instances: Iterable<string>): string | undefined {
  let best: { readonly instance: string; readonly weight: number } | undefined;
  for (const instance of instances) {
    const weight = murmur3(`${actorId}@${instance}`);
    const isHigher = best === undefined || weight > best.weight || (weight === best.weight && instance > best.instance);
    if (isHigher) best = { instance, weight };
  }
  return best?.instance;
}
