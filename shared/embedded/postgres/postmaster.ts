import { readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { type ProcessFacts, readProcessFacts } from '../../runtime/process-facts.ts';

/**
 * The PostgreSQL server that runs on a data folder. If there is none, removes the `postmaster.pid` of a killed server
 * and returns undefined: PostgreSQL would refuse to start if another process has the id in that file by now.
 */
export async function findPostmaster(clusterDir: string): Promise<ProcessFacts | undefined> {
  const pidFile = join(clusterDir, 'postmaster.pid');
  const pid = await readFile(pidFile, 'utf8').then(parsePostmasterPid, () => undefined);
  if (pid === undefined) {
    return undefined;
  }
  const facts = await readProcessFacts(pid);
  if (facts !== undefined && isPostmasterOf(facts, clusterDir)) {
    return facts;
  }
  await rm(pidFile, { force: true });
  return undefined;
}

/** Whether `postmaster.pid` shows that the server accepts sessions. */
export async function isPostmasterReady(clusterDir: string): Promise<boolean> {
  const text = await readFile(join(clusterDir, 'postmaster.pid'), 'utf8').catch(() => '');
  return parsePostmasterStatus(text) === 'ready';
}

/** The status on the eighth line of `postmaster.pid`: `starting`, `ready`, `stopping` or `standby`. */
export function parsePostmasterStatus(text: string): string | undefined {
  return text.split('\n')[7]?.trim();
}

/** The process id on the first line of `postmaster.pid`, which a single-user session writes as a negative number. */
export function parsePostmasterPid(text: string): number {
  return Math.abs(Number.parseInt(text, 10));
}

/**
 * Whether the process is a PostgreSQL server in the folder, by its working folder or, if unknown, its command line.
 */
export function isPostmasterOf(facts: ProcessFacts, clusterDir: string): boolean {
  const program = basename(facts.command[0] ?? '');
  if (program !== 'postgres' && program !== 'postmaster') {
    return false;
  }
  return facts.workingDirectory === undefined
    ? facts.command.join(' ').includes(clusterDir)
    : facts.workingDirectory === clusterDir;
}
