import { setTimeout as delay } from 'node:timers/promises';

import { EmbeddedServerError } from './embedded-server-error.ts';
import { type ProcessFacts, readProcessFacts } from '../../runtime/process-facts.ts';

/** One step of ending a process: the signal, and how long to wait for the end before the next step. */
export type EndStep = {
  readonly signal: NodeJS.Signals;
  readonly waitMs: number;
};

export const killStep: EndStep = { signal: 'SIGKILL', waitMs: 10_000 };

const pollMs = 20;

/**
 * Ends a process that is not a child of this one: sends each step's signal in turn, unless another process has its id
 * by now. Throws EmbeddedServerError if the process may not be signalled or does not end.
 */
export async function endProcess(target: ProcessFacts, steps: readonly EndStep[]): Promise<void> {
  for (const step of steps) {
    if (!(await isSameProcess(target))) {
      return;
    }
    try {
      process.kill(target.pid, step.signal);
    } catch (error) {
      if (!(await isSameProcess(target))) {
        return;
      }
      throw new EmbeddedServerError(
        'stop_failed',
        `this user is not allowed to stop process ${target.pid} of an earlier run`,
        error,
      );
    }
    const deadline = performance.now() + step.waitMs;
    while (performance.now() < deadline) {
      if (!(await isSameProcess(target))) {
        return;
      }
      await delay(pollMs);
    }
  }
  throw new EmbeddedServerError(
    'stop_failed',
    `process ${target.pid} of an earlier run did not end after the last signal`,
  );
}

/**
 * Ends the server that an earlier run left on a folder, if any. The server is known to be an orphan only if this
 * process took over that run's claim; otherwise it belongs to another program, and EmbeddedServerError is thrown.
 */
export async function endOrphan(
  server: ProcessFacts | undefined,
  steps: readonly EndStep[],
  { folder, isTakenOver }: { folder: string; isTakenOver: boolean },
): Promise<void> {
  if (server === undefined) {
    return;
  }
  if (!isTakenOver) {
    throw new EmbeddedServerError(
      'folder_in_use',
      `a server (process ${server.pid}) that was not started from here runs on ${folder}; stop it, or choose another folder`,
    );
  }
  await endProcess(server, [...steps, killStep]);
}

async function isSameProcess(target: ProcessFacts): Promise<boolean> {
  return (await readProcessFacts(target.pid))?.startedAt === target.startedAt;
}
