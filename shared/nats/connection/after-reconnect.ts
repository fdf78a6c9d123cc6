import { backoffMs, defaultBackoff } from '../../runtime/retry.ts';
import type { LogConnection } from './connection.ts';

/**
 * Runs `work` after every reconnect, until it succeeds, one run at a time: the server that comes back may be an empty
 * one, or have forgotten who was watching what.
 */
export function afterReconnect(
  connection: LogConnection,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): { stop(): void } {
  const state = { isWanted: false, isStopped: false };
  let running: Promise<void> | undefined;
  const run = async (): Promise<void> => {
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
  };
  const off = connection.onReconnect(() => {
    state.isWanted = true;
    running ??= run().finally(() => {
      running = undefined;
    });
  });
  return {
    stop() {
      state.isStopped = true;
      off();
    },
  };
}
