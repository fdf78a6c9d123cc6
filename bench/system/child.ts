import { fork } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inheritedEnv } from '../machine/env.ts';
import { compiledPath, topFolder } from '../../shared/runtime/compiled-path.ts';

export type ChildOptions = {
  readonly name: string;
  /** Path of the program in the checkout, without extension, such as `gateway/main`. */
  readonly entry: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeArgs?: readonly string[];
  /** Folder of a built checkout whose code runs; by default this checkout. */
  readonly checkout?: string;
};

export type ChildExit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** A process of the bench: a service, a peer, a sink or a load generator. */
export type Child = {
  readonly pid: number;
  /** Rejects when the process ends by itself; never resolves. */
  readonly failed: Promise<never>;
  /** Exit code and signal, both null if the process could not be started. */
  readonly exited: Promise<ChildExit>;
  onMessage(take: (message: unknown) => void): void;
  send(message: unknown): void;
  /** The next message; rejects if the process ends first. */
  nextMessage(): Promise<unknown>;
  stop(): Promise<void>;
};

const stopDeadlineMs = 12_000;
const lastWordsCharacters = 2_000;

/** Starts a process with its output in a file in `folder`. If it ends early, the error quotes the end of the file. */
export async function startChild(folder: string, options: ChildOptions): Promise<Child> {
  const logPath = join(folder, `${options.name.replaceAll(/\W+/g, '-')}-${performance.now().toFixed(0)}.log`);
  const log = await open(logPath, 'a');
  const endWithParent = compiledPath(new URL('./end-with-parent.ts', import.meta.url));
  const code =
    options.checkout === undefined
      ? compiledPath(new URL(`${options.entry}.ts`, topFolder))
      : join(options.checkout, 'dist', `${options.entry}.js`);
  const child = fork(code, [...(options.args ?? [])], {
    execArgv: ['--import', endWithParent, ...(options.nodeArgs ?? [])],
    stdio: ['ignore', log.fd, log.fd, 'ipc'],
    serialization: 'advanced',
    env: { ...inheritedEnv(), ...options.env },
    // Its own process group: Ctrl-C in a terminal reaches only the bench, which stops its processes in order.
    detached: true,
  });
  await log.close();
  let isStopping = false;
  let notStarted: string | undefined;
  const exited = new Promise<ChildExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', (error) => {
      notStarted = error.message;
      resolve({ code: null, signal: null });
    });
  });
  const failed = exited.then(async ({ code, signal }) => {
    if (isStopping) return new Promise<never>(() => undefined);
    const words = (await readFile(logPath, 'utf8').catch(() => '')).trim().slice(-lastWordsCharacters);
    const how = notStarted ?? signal ?? `exit code ${code}`;
    throw new Error(`${options.name} ended early (${how})${words === '' ? '' : `:\n${words}`}`);
  });
  // Callers that await `failed` get the error; if no caller awaits it, the error must not end the bench.
  failed.catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    failed,
    exited,
    onMessage: (take) => void child.on('message', take),
    send: (message) => {
      if (child.connected) child.send(message as object);
    },
    nextMessage: () => Promise.race([once(child, 'message').then(([message]) => message as unknown), failed]),
    async stop() {
      isStopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), stopDeadlineMs);
      await exited;
      clearTimeout(timer);
    },
  };
}
