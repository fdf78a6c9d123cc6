import { backoffMs, defaultBackoff } from '../../runtime/retry.ts';
import type { LogConnection } from './connection.ts';

/**
 * Runs `work` after every reconnect until it succeeds, one run at a time: the server may be empty after its restart, or
 * may have forgotten its subscribers.
 */
export function afterReconnect(
  connection: LogConnection,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): { stop(): void } {
  const state = { isWanted: false, isStopped: false, isRunning: false };
  const run = async (): Promise<void> => {
    state.isRunning = true;
    for (let failures = 0; state.isWanted && !state.isStopped;) {
      state.isWanted = false;
      try {
        await work();
      } catch (error) {
        if (state.isStopped) return;
        onError(error);
        state.isWanted = true;
        failures += 1;
        const pauseMs = backoffMs(defaultBackoff, failures, Math.random());
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
    // Nothing is awaited since the last check of `isWanted`: a reconnect from now on starts a new run.
    state.isRunning = false;
  };
  const off = connection.onReconnect(() => {
    state.isWanted = true;
    if (!state.isRunning) void run();
  });
  return {
    stop() {
      state.isStopped = true;
      off();
    },
  };
}
