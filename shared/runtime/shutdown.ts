import type { Logger } from './logger.ts';

export type ShutdownStep = { readonly name: string; run(): Promise<void> | void };

type Run = ShutdownStep['run'];

/** How a process ends: steps run one after the other. Past the deadline the process exits with 1. */
export type Shutdown = {
  /** A step that runs before all that were added earlier. */
  add(name: string, run: Run): void;
  /**
   * Steps in an order that is written down: the first name runs first. The function returned gives a step what to run, once
   * it is started; those that were never started are left out. Together they run before all that was added earlier.
   */
  inOrder<const Name extends string>(order: readonly Name[]): (name: Name, run: Run) => void;
  /** Runs all steps once; later calls wait for the same run. */
  run(reason: string): Promise<void>;
  readonly stopping: boolean;
};

export function createShutdown(logger: Logger, deadlineMs: number): Shutdown {
  const groups: (() => readonly ShutdownStep[])[] = [];
  let running: Promise<void> | undefined;
  const runAll = async (reason: string): Promise<void> => {
    logger.info({ reason }, 'stopping');
    const deadline = setTimeout(() => {
      logger.error({ deadlineMs }, 'shutdown deadline passed');
      process.exit(1);
    }, deadlineMs);
    for (const step of groups.toReversed().flatMap((group) => group())) {
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
    add: (name, run) => void groups.push(() => [{ name, run }]),
    inOrder(order) {
      const started = new Map<string, Run>();
      groups.push(() =>
        order.flatMap((name) => {
          const run = started.get(name);
          return run === undefined ? [] : [{ name, run }];
        }),
      );
      return (name, run) => {
        if (started.has(name)) throw new Error(`the step ${name} of the shutdown is given twice`);
        started.set(name, run);
      };
    },
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
