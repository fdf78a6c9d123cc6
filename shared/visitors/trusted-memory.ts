import { setTimeout as wait } from 'node:timers/promises';

/** A resolver uses known visitors from memory for this long after its last check for changes in PostgreSQL, in ms. */
export const memoryTrustedMs = 250;

/** A margin for timers and for the clocks of two processes, which are not exact. */
const marginMs = 50;

/**
 * Waits until no resolver uses a visitor that it read before this call. Every API request that changes visitors calls
 * this between its commit and its answer, so that events received after the answer see the change.
 */
export async function untilMemoriesKnow(): Promise<void> {
  await wait(memoryTrustedMs + marginMs);
}
