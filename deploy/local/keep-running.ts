import { setTimeout as wait } from 'node:timers/promises';
import { cannotStartExitCode } from '../../shared/runtime/cannot-start.ts';

/** Something that runs until it exits, by itself or because it was stopped. */
export type Runnable = {
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  stop(): Promise<void>;
};

export type KeepRunningOptions<Running extends Runnable> = {
  readonly name: string;
  start(): Promise<Running>;
  say(line: string): void;
  /** Delay before restart n (0 first), in ms. */
  restartDelayMs?(restarts: number): number;
};

export type KeptRunning<Running> = {
  /** The instance that runs now. */
  readonly current: Running;
  /** Resolves when there are no more restarts, because no start can succeed. */
  readonly givenUp: Promise<void>;
  stop(): Promise<void>;
};

const settledAfterMs = 60_000;

/** Starts something, and restarts it whenever it ends without a stop, unless it reports that no start can succeed. */
export async function keepRunning<Running extends Runnable>(
  options: KeepRunningOptions<Running>,
): Promise<KeptRunning<Running>> {
  const delayMs = options.restartDelayMs ?? restartDelayMs;
  const stop = new AbortController();
  let current = await options.start();
  let giveUp: () => void = () => undefined;
  const givenUp = new Promise<void>((resolve) => {
    giveUp = resolve;
  });
  const watching = (async () => {
    let restarts = 0;
    while (!stop.signal.aborted) {
      const startedMs = performance.now();
      const exit = await current.exited;
      if (stop.signal.aborted) return;
      if (exit.code === cannotStartExitCode) {
        options.say(`! ${options.name} cannot start; it is not started again`);
        giveUp();
        return;
      }
      if (performance.now() - startedMs > settledAfterMs) restarts = 0;
      const waitMs = delayMs(restarts);
      restarts += 1;
      const how = exit.signal === null ? `exit code ${exit.code}` : `signal ${exit.signal}`;
      options.say(`! ${options.name} ended (${how}); starting it again in ${waitMs / 1000} s`);
      await sleep(waitMs, stop.signal);
      current = await startUntilItWorks(options, stop.signal, current);
    }
  })();
  return {
    get current() {
      return current;
    },
    givenUp,
    async stop() {
      stop.abort();
      await current.stop();
      await watching;
      // A restart may have been in progress when `stop` was called.
      await current.stop();
    },
  };
}

async function startUntilItWorks<Running extends Runnable>(
  options: KeepRunningOptions<Running>,
  signal: AbortSignal,
  last: Running,
): Promise<Running> {
  for (let tries = 0; !signal.aborted; tries += 1) {
    try {
      const started = await options.start();
      options.say(`✓ ${options.name} is running again`);
      return started;
    } catch (error) {
      options.say(`! ${options.name} did not start: ${error instanceof Error ? error.message : String(error)}`);
      await sleep(restartDelayMs(tries), signal);
    }
  }
  return last;
}

/** Delay before restart n (0 first), in ms: 50, then from 500, doubled each time up to 10,000. */
export function restartDelayMs(restarts: number): number {
  return restarts === 0 ? 50 : Math.min(250 * 2 ** restarts, 10_000);
}

/** Waits `ms`, or until the signal aborts. Removes its listener, because one signal serves all restarts. */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
