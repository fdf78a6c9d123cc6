import { spawn } from 'node:child_process';

/** Output of a command; at most the last 1,048,576 characters of each stream. */
export type CommandOutput = {
  readonly stdout: string;
  readonly stderr: string;
};

export type RunCommandOptions = {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly account?: { readonly uid: number; readonly gid: number } | undefined;
};

const outputCharactersMax = 1024 * 1024;

/** Runs a command to its end. If it fails, times out or is aborted, throws an error with its last lines of output. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: RunCommandOptions,
): Promise<CommandOutput> {
  return new Promise((resolve, reject) => {
    const output = { stdout: '', stderr: '' };
    const child = spawn(command, args, {
      // A process group of its own, so that the timeout also ends the processes that the command started.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: options.cwd ?? '/',
      ...(options.env === undefined ? {} : { env: options.env }),
      ...options.account,
    });
    let cutShort: string | undefined;
    const cutOff = (reason: string): void => {
      cutShort ??= reason;
      killGroup(child.pid);
    };
    const timer = setTimeout(() => cutOff(`took longer than ${options.timeoutMs / 1000} s`), options.timeoutMs);
    const onAbort = (): void => cutOff('was cancelled');
    options.signal?.addEventListener('abort', onAbort, { once: true });
    if (options.signal?.aborted === true) {
      onAbort();
    }
    const settle = (error: Error | undefined): void => {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', onAbort);
      if (error === undefined) {
        resolve(output);
      } else {
        reject(error);
      }
    };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8');
      child[name].on('data', (text: string) => {
        output[name] = (output[name] + text).slice(-outputCharactersMax);
      });
    }
    child.once('error', (error) => settle(new Error(`cannot run ${command}: ${error.message}`, { cause: error })));
    child.once('close', (code, signal) => {
      const failure = cutShort ?? (code === 0 ? undefined : `ended with ${signal ?? `exit code ${code}`}`);
      settle(failure === undefined ? undefined : new Error(`${command} ${failure}${quoteLastLines(output)}`));
    });
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) {
    return;
  }
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}

function quoteLastLines({ stdout, stderr }: CommandOutput): string {
  const said = (stderr.trim() === '' ? stdout : stderr).trim().split('\n').slice(-6).join('\n');
  return said === '' ? '' : `: ${said}`;
}
