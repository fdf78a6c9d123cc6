/**
 * A failure that is the same at every start until somebody changes the settings or the machine. Its message says in one
 * sentence what is wrong and what to do.
 */
export class CannotStartError extends Error {
  readonly code: string = 'cannot_start';
}

/** What a service that met one ends with (EX_CONFIG of sysexits.h): whoever runs it does not start it again. */
export const cannotStartExitCode = 78;
