/**
 * A failure that repeats at every start until the operator changes the settings or the machine. Its message names the
 * problem and the remedy in one sentence.
 */
export class CannotStartError extends Error {
  readonly code: string = 'cannot_start';
}

/** Exit code after such a failure (EX_CONFIG of sysexits.h): the process manager must not restart the service. */
export const cannotStartExitCode = 78;
