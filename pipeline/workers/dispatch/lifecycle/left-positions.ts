import { destinationOfPosition, findPosition } from '../../../../shared/contracts/destination-position.ts';
import type { PlaceBuckets } from '../../worker/define-worker.ts';

/** A destination that left a position, with its account. */
export type LeftPosition = { readonly destinationId: string; readonly accountId: string };

/**
 * The destinations with a position that is not retired, apart from the live ones. An entry without an account, or of a
 * later build, is left out: nothing would prove that its destination was deleted.
 */
export async function leftPositions(
  { positions }: Pick<PlaceBuckets, 'positions'>,
  isLive: (destinationId: string) => boolean,
): Promise<readonly LeftPosition[]> {
  const left: LeftPosition[] = [];
  for (const key of await positions.keys()) {
    const destinationId = destinationOfPosition(key);
    if (isLive(destinationId)) continue;
    const position = findPosition((await positions.get(key))?.value);
    if (position?.accountId === undefined || position.retired === true) continue;
    left.push({ destinationId, accountId: position.accountId });
  }
  return left;
}
