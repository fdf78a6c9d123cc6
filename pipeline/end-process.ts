import type { Logger } from '../shared/runtime/logger.ts';
import type { Scope } from '../shared/runtime/scope.ts';

/** Timeout of one step of closing, in ms. */
export const stepMs = 400;
/** Actors are handed over first, while the rest of the process still works and reports. */
export const handOver = { endsBefore: 'status server' } as const;

/** Ends the pipeline, which can do nothing once its connection to the log is closed for good. */
export async function endWithoutLog(error: Error | undefined, logger: Logger, scope: Scope): Promise<void> {
  if (scope.ending) return;
  logger.fatal({ err: error }, 'the connection to the log is closed permanently');
  await endProcess('log closed', scope);
}

/** Shuts down in good order with exit code 1, so that the process manager starts the pipeline again. */
export async function endProcess(reason: string, scope: Scope): Promise<void> {
  await scope.end(reason);
  process.exit(1);
}
