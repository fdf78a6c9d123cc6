import { setImmediate as nextTurn } from 'node:timers/promises';

const turnMs = 10;

/** Called between the steps of long work: lets other requests be answered after every few milliseconds. */
export function createTurns(): () => Promise<void> {
  let begunMs = performance.now();
  return async () => {
    if (performance.now() - begunMs < turnMs) return;
    await nextTurn();
    begunMs = performance.now();
  };
}
