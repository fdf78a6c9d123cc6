import { setTimeout as wait } from 'node:timers/promises';

/** A resolver takes known visitors from memory for this long after its last check for changes in PostgreSQL, in ms. */
export const memoryTrustedMs = 250;

/** Clocks of two processes, and timers, are not exact. */
const marginMs = 50;

/**
 * Waits until no resolver uses a visitor from memory as it was before this call. Every API request that changes
 * visitors awaits it between its commit and its answer: an event received after the answer sees the change.
 */
export async function untilMemoriesKnow(): Promise<void> {
  await wait(memoryTrustedMs + marginMs);
}
