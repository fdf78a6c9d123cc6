import { setTimeout as wait } from 'node:timers/promises';

/** For so long after it asked PostgreSQL what changed, a resolver takes known visitors from memory, in ms. */
export const memoryTrustedMs = 250;

/** Clocks of two processes, and timers, are not exact. */
const marginMs = 50;

/**
 * Waits until no resolver takes a visitor from memory as it was before this call. Every API request that changes visitors awaits it
 * between its commit and its answer: an event received after the answer meets the change.
 */
export async function untilMemoriesKnow(): Promise<void> {
  await wait(memoryTrustedMs + marginMs);
}
