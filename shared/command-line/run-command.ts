import type { Command } from 'commander';
import { EnvError } from '../runtime/env.ts';

/** Fails a command; the message explains the reason to the person at the shell. */
export class CommandError extends Error {
  readonly code = 'command';
}

/**
 * Runs the program of a command, including `--help`. If the reader of its output closes the pipe (`| head`), the
 * process ends.
 */
export async function runProgram(program: Command): Promise<void> {
  endWithReader();
  await program.parseAsync();
}

/**
 * Runs the work of a command and sets the exit code: the number that `work` returns, or 0. If `work` fails, prints one
 * line per fault to standard error and sets `failedCode`.
 */
export async function runCommand(
  name: string,
  work: () => Promise<number | void>,
  failedCode: number = 1,
): Promise<void> {
  endWithReader();
  try {
    process.exitCode = (await work()) ?? 0;
  } catch (error) {
    for (const fault of faultsOf(error)) process.stderr.write(`${name}: ${fault}\n`);
    process.exitCode = failedCode;
  }
}

let endsWithReader = false;

function endWithReader(): void {
  if (endsWithReader) return;
  endsWithReader = true;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(process.exitCode ?? 0);
  });
}

/** The faults of a failure, each as a line for the person at the shell. */
export function faultsOf(error: unknown): readonly string[] {
  if (error instanceof EnvError) return error.problems;
  const code = codeOf(error);
  if (code === '42P01') return ['the database has no tables of Sluice; npm run migrate creates them'];
  if (code === '42703') return ['the tables of the database are of an older version; npm run migrate upgrades them'];
  const path = error instanceof Error && 'path' in error ? String(error.path) : undefined;
  if (path !== undefined && code === 'ENOENT') return [`there is no file ${path}`];
  if (path !== undefined && code === 'EACCES') return [`this user may not read ${path}`];
  if (code === 'EISDIR') return ['a file is needed, and this is a folder'];
  return [error instanceof Error ? error.message : String(error)];
}

// The ORM wraps the driver's error.
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return codeOf(error.cause);
}
