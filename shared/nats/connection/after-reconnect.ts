import type { LogConnection } from './connection.ts';

const retryMs = 500;

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
    while (state.isWanted && !state.isStopped) {
      state.isWanted = false;
      try {
        await work();
      } catch (error) {
        if (state.isStopped) return;
        onError(error);
        state.isWanted = true;
        await new Promise((resolve) => setTimeout(resolve, retryMs));
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
