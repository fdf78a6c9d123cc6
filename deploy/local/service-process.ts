import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, fchmodSync, openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { compiledPath, topFolder } from '../../shared/runtime/compiled-path.ts';
import { heapOptions } from '../../shared/runtime/heap-option.ts';

export type ServiceSpec = {
  readonly name: string;
  /** Path of the entry file in the repository, without its extension. */
  readonly entry: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logFile: string;
};

export type ServiceExit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

export type ServiceProcess = {
  readonly pid: number;
  readonly exited: Promise<ServiceExit>;
  /** Sends SIGTERM and, after `deadlineMs`, SIGKILL. */
  stop(deadlineMs: number): Promise<void>;
};

const ownerOnly = 0o600;

/** Starts a service as a process. `onProblem` is called with each line that it logs at warn level or above. */
export function startService(spec: ServiceSpec, onProblem: (line: string) => void): ServiceProcess {
  const log = openLog(spec.logFile);
  const child = fork(compiledPath(new URL(`${spec.entry}.ts`, topFolder)), [], {
    env: spec.env,
    execArgv: ['--enable-source-maps', ...heapOptions(spec.env)],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // In a process group of its own, so that Ctrl-C reaches only the launcher, which stops the services in order.
    detached: true,
  });
  const exited = new Promise<ServiceExit>((resolve) => {
    // `close` and not `exit`, because the last output must be read first.
    child.once('close', (code, signal) => resolve({ code, signal }));
    child.once('error', () => resolve({ code: 1, signal: null }));
  });
  follow(child, log, onProblem);
  return { pid: child.pid ?? 0, exited, stop: (deadlineMs) => stopChild(child, exited, deadlineMs) };
}

export type ServiceLog = { write(line: string): void; close(): void };

/** Opens a log file. A line that cannot be written, such as on a full disk, is lost. */
export function openLog(logFile: string): ServiceLog {
  // A log file that an earlier version created may be readable by other users.
  const file = openSync(logFile, 'a', ownerOnly);
  fchmodSync(file, ownerOnly);
  return {
    // Not a stream: that would write nothing more after one failure.
    write(line) {
      try {
        writeSync(file, `${line}\n`);
      } catch {
        // The disk is full or broken; the services go on.
      }
    },
    close: () => closeSync(file),
  };
}

function follow(child: ChildProcess, log: ServiceLog, onProblem: (line: string) => void): void {
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream }).on('line', (line) => {
      log.write(line);
      const problem = readProblem(line);
      if (problem !== undefined) onProblem(problem);
    });
  }
  child.once('close', () => log.close());
}

const warnLevel = 40;

/** A log line at warn level or above, in words; undefined below warn level. Lines that are not JSON are unchanged. */
export function readProblem(line: string): string | undefined {
  if (!line.startsWith('{')) return line.trim() === '' ? undefined : line;
  try {
    const { level, msg, time: _time, component: _component, err, ...fields } = JSON.parse(line) as LogLine;
    if (typeof level === 'number' && level < warnLevel) return undefined;
    const detail = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`;
    return `${msg ?? ''}${err?.message === undefined ? '' : `: ${err.message}`}${detail}`;
  } catch {
    return line;
  }
}

type LogLine = {
  readonly level?: number;
  readonly msg?: string;
  readonly time?: unknown;
  readonly component?: unknown;
  readonly err?: { readonly message?: string };
};

async function stopChild(child: ChildProcess, exited: Promise<ServiceExit>, deadlineMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), deadlineMs);
  await exited;
  clearTimeout(timer);
}
