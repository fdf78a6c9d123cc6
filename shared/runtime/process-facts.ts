import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Identity of a process beyond its id, which the system reuses after the process has ended. */
export type ProcessFacts = {
  readonly pid: number;
  readonly command: readonly string[];
  /** Differs between two processes that had the same id one after the other. Opaque: only compare it. */
  readonly startedAt: string;
  /** Undefined if the system does not show it (another account's process, or not Linux). */
  readonly workingDirectory: string | undefined;
};

/** The facts of a living process; undefined if no such process has this id. A zombie does not count as living. */
export async function readProcessFacts(pid: number): Promise<ProcessFacts | undefined> {
  if (!Number.isSafeInteger(pid) || pid <= 0) {
    return undefined;
  }
  return process.platform === 'linux' ? readFromProc(pid) : readFromPs(pid);
}

async function readFromProc(pid: number): Promise<ProcessFacts | undefined> {
  try {
    const [stat, commandLine, bootId] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
      readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => ''),
    ]);
    // The second field is the name in parentheses and may itself hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const state = fields[0];
    const startTicks = fields[19];
    if (state === 'Z' || state === 'X' || startTicks === undefined) {
      return undefined;
    }
    const workingDirectory = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
    const command = commandLine.split('\0').slice(0, -1);
    return { pid, command, startedAt: `${bootId.trim()}:${startTicks}`, workingDirectory };
  } catch {
    return undefined;
  }
}

async function readFromPs(pid: number): Promise<ProcessFacts | undefined> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'stat=,lstart=,args=', '-p', String(pid)], {
      timeout: 5_000,
      env: { LC_ALL: 'C', PATH: '/bin:/usr/bin' },
    });
    const match = /^\s*(\S+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]+\s+\d{4})\s+(.*)$/m.exec(stdout);
    const [, state, startedAt, command] = match ?? [];
    if (state === undefined || startedAt === undefined || command === undefined || state.startsWith('Z')) {
      return undefined;
    }
    return { pid, command: command.trim().split(/\s+/), startedAt, workingDirectory: undefined };
  } catch {
    return undefined;
  }
}
