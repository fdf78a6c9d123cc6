import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { FileHandle } from 'node:fs/promises';
import { open, rename, stat } from 'node:fs/promises';
import { EmbeddedServerError } from './embedded-server-error.ts';
import type { EndStep } from './end-process.ts';
import { killStep } from './end-process.ts';
import type { FolderClaim } from './folder-claim.ts';

/** A server as a child process, whose output goes to a log file. */
export type ServerProcess = {
  readonly pid: number;
  readonly exited: Promise<ServerExit>;
  /**
   * Polls `check` until it returns true. If the process ends or the deadline passes first, or if `check` throws, ends
   * the process and throws an error, which quotes the last lines of the process's log in the first two cases.
   */
  whenReady(check: () => Promise<boolean>, deadlineMs: number): Promise<void>;
  /** Sends the signals of `stopSteps`, then SIGKILL, in turn until the process has ended. */
  stop(): Promise<void>;
  /** Sends SIGKILL, which simulates a crash in tests. */
  kill(): Promise<void>;
};

type ServerExit = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
};

export type ServerProcessOptions = {
  /** Name in error messages. */
  readonly label: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly logFile: string;
  readonly stopSteps: readonly EndStep[];
  readonly env?: NodeJS.ProcessEnv;
  readonly account?: { readonly uid: number; readonly gid: number };
};

const pollMs = 15;

/** Starts the process; resolves once it exists, before it is ready. Throws EmbeddedServerError if it cannot run. */
export async function startServerProcess(options: ServerProcessOptions): Promise<ServerProcess> {
  const log = await openLogFile(options.logFile);
  const { size: logStart } = await log.stat();
  let child: ChildProcess;
  let exited: Promise<ServerExit>;
  try {
    child = spawn(options.command, options.args, {
      // A process group of its own, so that Ctrl-C in a terminal reaches only the services, which drain and then stop
      // the servers.
      detached: true,
      // A file, because a broken pipe would end the server during a write if this process is killed.
      stdio: ['ignore', log.fd, log.fd],
      cwd: '/',
      ...(options.env === undefined ? {} : { env: options.env }),
      ...options.account,
    });
    // Listens before the first await, during which the process may end.
    exited = exitOf(child);
    await once(child, 'spawn');
  } catch (error) {
    throw new EmbeddedServerError('start_failed', `cannot run ${options.label} (${options.command})`, error);
  } finally {
    await log.close();
  }
  return supervise(child, exited, options, () => readLogTail(options.logFile, logStart));
}

function exitOf(child: ChildProcess): Promise<ServerExit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
}

function supervise(
  child: ChildProcess,
  exited: Promise<ServerExit>,
  { label, stopSteps }: ServerProcessOptions,
  logTail: () => Promise<string>,
): ServerProcess {
  endWithThisProcess(child, stopSteps[0]?.signal ?? 'SIGTERM', exited);

  const hasExited = (): boolean => child.exitCode !== null || child.signalCode !== null;

  const end = async (steps: readonly EndStep[]): Promise<void> => {
    for (const { signal, waitMs } of steps) {
      // `child.kill` does nothing once the process has ended, so it never hits another process with the same id.
      child.kill(signal);
      if (await settlesWithin(exited, waitMs)) {
        return;
      }
    }
    throw new EmbeddedServerError('stop_failed', `${label} (process ${child.pid}) did not end after the last signal`);
  };

  const stop = (): Promise<void> => end([...stopSteps, killStep]);

  const waitUntilReady = async (check: () => Promise<boolean>, deadlineMs: number): Promise<void> => {
    const deadline = performance.now() + deadlineMs;
    while (!(await check())) {
      if (hasExited()) {
        const { code, signal } = await exited;
        throw startFailed(`ended while starting (${signal ?? `exit code ${code}`})`, await logTail());
      }
      if (performance.now() > deadline) {
        throw startFailed(`was not ready within ${deadlineMs / 1000} s`, await logTail());
      }
      await delay(pollMs);
    }
  };

  const startFailed = (reason: string, lastLines: string): EmbeddedServerError =>
    new EmbeddedServerError('start_failed', `${label} ${reason}; its last lines:\n${lastLines}`);

  const whenReady = async (check: () => Promise<boolean>, deadlineMs: number): Promise<void> => {
    try {
      await waitUntilReady(check, deadlineMs);
    } catch (error) {
      if (!hasExited()) {
        await stop();
      }
      throw error;
    }
  };

  return {
    pid: child.pid ?? 0,
    exited,
    whenReady,
    stop,
    kill: () => end([killStep]),
  };
}

const running = new Map<ChildProcess, NodeJS.Signals>();
let exitHookInstalled = false;

// A process that exits without stopping its servers (process.exit, an uncaught error) still sends them a signal. Only a
// killed process leaves servers behind, which the next start on the same folder ends.
function endWithThisProcess(child: ChildProcess, signal: NodeJS.Signals, exited: Promise<ServerExit>): void {
  running.set(child, signal);
  void exited.then(() => running.delete(child));
  if (!exitHookInstalled) {
    exitHookInstalled = true;
    process.once('exit', () => {
      for (const [left, stopSignal] of running) {
        left.kill(stopSignal);
      }
    });
  }
}

async function settlesWithin(promise: Promise<unknown>, waitMs: number): Promise<boolean> {
  const timer = new AbortController();
  try {
    const timeout = delay(waitMs, false, { signal: timer.signal }).catch(() => false);
    return await Promise.race([promise.then(() => true), timeout]);
  } finally {
    timer.abort();
  }
}

/** A running server, with a claim on its folder until it has ended. */
export type HeldServer = {
  readonly pid: number;
  readonly exited: Promise<ServerExit>;
  /** Stops the server gracefully, or by force if that takes too long. */
  stop(): Promise<void>;
  /** Sends SIGKILL, which simulates a crash in tests. A new start on the same folder finds all acknowledged data. */
  kill(): Promise<void>;
};

/** Releases the claim when the process ends: once `exited`, `stop` or `kill` resolves, the folder is free again. */
export function holdClaim(process: ServerProcess, claim: FolderClaim): HeldServer {
  const exited = process.exited.then(async (exit) => {
    await claim.release();
    return exit;
  });
  return {
    pid: process.pid,
    exited,
    stop: async () => {
      await process.stop();
      await exited;
    },
    kill: async () => {
      await process.kill();
      await exited;
    },
  };
}

const keptBytesMax = 8 * 1024 * 1024;
const tailBytes = 4 * 1024;

/** Opens a server's log for appending. A large log is first renamed to `<name>.1`, which replaces the previous one. */
export async function openLogFile(path: string): Promise<FileHandle> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size > keptBytesMax) {
    await rename(path, `${path}.1`);
  }
  return open(path, 'a', 0o600);
}

/** The last lines written since `fromByte`, for error messages; empty if there are none. */
export async function readLogTail(path: string, fromByte: number): Promise<string> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    const { size } = await file.stat();
    const start = Math.max(fromByte, size - tailBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(tailBytes), 0, tailBytes, start);
    return buffer.toString('utf8', 0, bytesRead).trim().split('\n').slice(-15).join('\n');
  } catch {
    return '';
  } finally {
    await file?.close();
  }
}
