import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { inheritedEnv } from '../env.ts';

export type PeerProcess = { readonly pid: number; stop(): Promise<void> };

/** Starts a script as a process of its own and waits until it says it is ready. */
export async function startPeer(
  script: URL,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<PeerProcess> {
  const child = fork(fileURLToPath(script), args, {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...inheritedEnv(), ...env },
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const ended = exited.then(() => Promise.reject(new Error(`${script.pathname} ended before it was ready`)));
  const ready = new Promise<void>((resolve) => child.once('message', () => resolve()));
  await Promise.race([ready, ended]);
  return {
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await exited;
      clearTimeout(timer);
    },
  };
}
