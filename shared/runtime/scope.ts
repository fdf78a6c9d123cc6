import type { Logger } from './logger.ts';

type End<Resource> = (resource: Resource) => Promise<void> | void;

type Step = { readonly name: string; readonly endsBefore: string | undefined; run(): Promise<void> | void };

/** The open resources of a process. They end in reverse order of `use`, with the exceptions that `use` describes. */
export type Scope = {
  /**
   * Registers a resource where it is opened, with the function that ends it:
   *
   *     const connection = scope.use('log', await connectLog(…), (log) => log.close());
   *     const tests = scope.use('tests', createTests(…), (one) => one.stop(), { endsBefore: 'http' });
   *
   * `endsBefore` names a resource that is opened later and yet ends after this one. A resource that is registered while
   * or after the scope ends is ended next. Throws for a name that is in use.
   */
  use<Resource>(
    name: string,
    resource: Resource,
    end: End<Resource>,
    order?: { readonly endsBefore: string },
  ): Resource;
  /** Runs `start` and returns its result. If it fails, ends all resources, then throws its error. */
  start<Result>(start: () => Promise<Result>): Promise<Result>;
  /** Ends all resources once, one after the other; later calls wait for the same end. */
  end(reason: string): Promise<void>;
  readonly ending: boolean;
};

/**
 * Creates an empty scope. A resource that fails to end is logged, and the others still end. If ending takes longer than
 * `deadlineMs`, the process exits with 1.
 */
export function createScope(
  logger: Logger,
  deadlineMs: number,
  exit: (code: number) => void = (code) => process.exit(code),
): Scope {
  const open: Step[] = [];
  let ended: Promise<void> | undefined;
  const runSteps = async (): Promise<void> => {
    for (let step = takeNext(open); step !== undefined; step = takeNext(open)) {
      try {
        await step.run();
      } catch (error) {
        logger.error({ step: step.name, err: error }, 'ending a resource failed');
      }
    }
  };
  const endAll = async (reason: string): Promise<void> => {
    logger.info({ reason }, 'stopping');
    const deadline = setTimeout(() => {
      logger.error({ deadlineMs, open: open.map(({ name }) => name) }, 'shutdown deadline passed');
      exit(1);
    }, deadlineMs);
    await runSteps();
    clearTimeout(deadline);
    logger.info('stopped');
  };
  const scope: Scope = {
    use(name, resource, end, order) {
      if (open.some((step) => step.name === name)) throw new Error(`the resource ${name} is opened twice`);
      open.push({ name, endsBefore: order?.endsBefore, run: () => end(resource) });
      if (ended !== undefined) ended = ended.then(runSteps);
      return resource;
    },
    async start(start) {
      try {
        return await start();
      } catch (error) {
        await scope.end('start failed');
        throw error;
      }
    },
    end: (reason) => (ended ??= endAll(reason)),
    get ending() {
      return ended !== undefined;
    },
  };
  return scope;
}

/**
 * Removes and returns the step to run next: the newest step, or, if others must end before it, the newest of those, and
 * so on.
 */
function takeNext(open: Step[]): Step | undefined {
  let next = open.at(-1);
  const passed = new Set<Step>();
  while (next !== undefined && !passed.has(next)) {
    passed.add(next);
    const { name } = next;
    const earlier = open.findLast((step) => step.endsBefore === name && !passed.has(step));
    if (earlier === undefined) break;
    next = earlier;
  }
  if (next !== undefined) open.splice(open.indexOf(next), 1);
  return next;
}

/** Ends the process cleanly: with exit code 0 on SIGTERM and SIGINT, with 1 on an uncaught failure. */
export function exitOnSignals(scope: Scope, logger: Logger): void {
  const stop = (signal: NodeJS.Signals): void => {
    void scope.end(signal).then(() => process.exit(0));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // A process with an IPC channel to its launcher ends when the launcher does.
  process.on('disconnect', () => stop('SIGTERM'));
  const fail = (error: unknown): void => {
    logger.fatal({ err: error }, 'uncaught failure');
    void scope.end('uncaught failure').then(() => process.exit(1));
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
}
