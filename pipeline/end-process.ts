import type { Logger } from '../shared/runtime/logger.ts';
import type { Scope } from '../shared/runtime/scope.ts';

/** Timeout of one step of closing, in ms. */
export const stepMs = 400;
/** Actors are handed over first, while the rest still works and reports. */
export const handOver = { endsBefore: 'status server' } as const;

/** Ends the pipeline, which its supervisor restarts: once its connection is closed for good it can do nothing. */
export async function endWithoutLog(error: Error | undefined, logger: Logger, scope: Scope): Promise<void> {
  if (scope.ending) return;
  logger.fatal({ err: error }, 'the connection to the log is closed for good');
  await endProcess('log closed', scope);
}

/** Ends in good order, with 1: the process manager starts the pipeline again. */
export async function endProcess(reason: string, scope: Scope): Promise<void> {
  await scope.end(reason);
  process.exit(1);
}
