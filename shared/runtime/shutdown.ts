import type { Logger } from './logger.ts';

export type ShutdownStep = { readonly name: string; run(): Promise<void> | void };

/**
 * The order in which a process ends: steps run one after the other, last added first, so that what was started
 * last stops first. Past the deadline the process exits with 1.
 */
export type Shutdown = {
  add(name: string, run: () => Promise<void> | void): void;
  /** Runs all steps once; later calls wait for the same run. */
  run(reason: string): Promise<void>;
  readonly stopping: boolean;
};

export function createShutdown(logger: Logger, deadlineMs: number): Shutdown {
  const steps: ShutdownStep[] = [];
  let running: Promise<void> | undefined;
  const runAll = async (reason: string): Promise<void> => {
    logger.info({ reason }, 'stopping');
    const deadline = setTimeout(() => {
      logger.error({ deadlineMs }, 'shutdown deadline passed');
      process.exit(1);
    }, deadlineMs);
    for (const step of steps.toReversed()) {
      try {
        await step.run();
      } catch (error) {
        logger.error({ step: step.name, err: error }, 'shutdown step failed');
      }
    }
    clearTimeout(deadline);
    logger.info('stopped');
  };
  return {
    add: (name, run) => void steps.push({ name, run }),
    run: (reason) => (running ??= runAll(reason)),
    get stopping() {
      return running !== undefined;
    },
  };
}

/** Ends the process cleanly on SIGTERM and SIGINT, with 0, and on a failure nobody caught, with 1. */
export function exitOnSignals(shutdown: Shutdown, logger: Logger): void {
  const stop = (signal: NodeJS.Signals): void => {
    void shutdown.run(signal).then(() => process.exit(0));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // A process with a channel to its launcher does not outlive it.
  process.on('disconnect', () => stop('SIGTERM'));
  const fail = (error: unknown): void => {
    logger.fatal({ err: error }, 'uncaught failure');
    void shutdown.run('uncaught failure').then(() => process.exit(1));
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
}
