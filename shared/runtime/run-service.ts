import { getHeapStatistics } from 'node:v8';
import { CannotStartError, cannotStartExitCode } from './cannot-start.ts';
import { EnvError } from './env.ts';
import { createLogger } from './logger.ts';
import type { Logger } from './logger.ts';
import { readMachine } from './machine.ts';
import { findRemovedVariables } from './removed-variables.ts';
import { createScope, exitOnSignals } from './scope.ts';
import type { Scope } from './scope.ts';
import type { ServiceEnv } from './service-settings.ts';

/**
 * The common part of every service's main: reads the environment (lists all its problems), starts, and ends cleanly on
 * a signal. `start` registers what it opens with `scope`, which is ended if the start fails. A failed start exits with
 * `cannotStartExitCode` if the next start would fail as well, otherwise with 1.
 */
export async function runService<Env extends ServiceEnv>(
  name: string,
  read: () => Env,
  start: (env: Env, logger: Logger, scope: Scope) => Promise<void>,
): Promise<void> {
  const env = readOrExit(name, read);
  const logger = createLogger(name, env.LOG_LEVEL);
  const scope = createScope(logger, env.SHUTDOWN_DEADLINE_MS);
  exitOnSignals(scope, logger);
  for (const removed of findRemovedVariables(process.env)) {
    logger.warn(removed, 'this variable is no longer read; remove it');
  }
  logger.info(describeMachine(), 'starting');
  try {
    await start(env, logger, scope);
  } catch (error) {
    const isFinal = error instanceof CannotStartError;
    // The message of a CannotStartError names problem and remedy, so it needs no stack trace.
    logger.fatal(isFinal ? { reason: error.message } : { err: error }, isFinal ? 'cannot start' : 'start failed');
    await scope.end('start failed');
    process.exit(isFinal ? cannotStartExitCode : 1);
  }
}

const mebibyte = 1024 ** 2;

/** The machine that the defaults were computed for, and the heap of the main thread. */
function describeMachine() {
  const { cores, memoryBytes } = readMachine();
  const heapMaxMib = Math.round(getHeapStatistics().heap_size_limit / mebibyte);
  return { cores, memoryMib: Math.round(memoryBytes / mebibyte), heapMaxMib };
}

function readOrExit<Env>(name: string, read: () => Env): Env {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    const lines = error.problems.map((problem) => `  - ${problem}`);
    process.stderr.write(`${name}: the environment is not valid:\n${lines.join('\n')}\n`);
    process.exit(cannotStartExitCode);
  }
}
