import type { Logger } from '../shared/runtime/logger.ts';
import type { Scope } from '../shared/runtime/scope.ts';

/** Timeout of one step of closing, in ms. */
export const stepMs = 400;

/** Ends the gateway, because it can accept no event without a connection to the log. Its supervisor restarts it. */
export async function endWithoutLog(error: Error | undefined, logger: Logger, scope: Scope): Promise<void> {
  if (scope.ending) return;
  logger.fatal({ err: error }, 'the connection to the log is permanently closed');
  await endProcess('log closed', scope);
}

/** Shuts down and exits with 1, so that the supervisor restarts the process. */
export async function endProcess(reason: string, scope: Scope): Promise<never> {
  await scope.end(reason);
  process.exit(1);
}
