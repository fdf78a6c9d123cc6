import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import type { Logger } from '../../shared/runtime/logger.ts';

const retryMs = 1_000;

/**
 * Runs `reopen` after every reconnect, until it succeeds: the server that comes back may be an empty one, or have
 * forgotten who was watching what. One run at a time.
 */
export function reopenOnReconnect(
  connection: LogConnection,
  reopen: () => Promise<void>,
  logger: Logger,
): { stop(): void } {
  const state = { wanted: false, running: false, stopped: false };
  const run = async (): Promise<void> => {
    state.running = true;
    while (state.wanted && !state.stopped) {
      state.wanted = false;
      try {
        await reopen();
      } catch (error) {
        if (state.stopped) break;
        logger.warn({ err: error }, 'reopening the log failed');
        state.wanted = true;
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
    state.running = false;
  };
  const off = connection.onReconnect(() => {
    state.wanted = true;
    if (!state.running) void run();
  });
  return {
    stop() {
      state.stopped = true;
      off();
    },
  };
}
