import { spawn } from 'node:child_process';

/** A service's command, run as an ordinary process. */
export type LocalContainer = {
  readonly name: string;
  /** Resolves with the exit code, or undefined if a signal ended the process. */
  readonly exited: Promise<number | undefined>;
  hasEnded(): boolean;
  /** The last part of the process's output. */
  said(): string;
  /** Sends SIGTERM and, after a time limit, SIGKILL. */
  stop(): Promise<void>;
};

const stopDeadlineMs = 30_000;
const saidCharactersMax = 4_000;

/** Starts the command `words`, whose environment is `environment` alone. */
export function startLocalContainer(
  name: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
): LocalContainer {
  const [command = '', ...args] = words;
  const child = spawn(command, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-saidCharactersMax);
    });
  }
  let ended = false;
  const exited = new Promise<number | undefined>((resolve) => {
    const end = (code: number | null): void => {
      ended = true;
      resolve(code ?? undefined);
    };
    child.once('error', (error) => {
      text += error.message;
      end(1);
    });
    child.once('close', end);
  });
  return {
    name,
    exited,
    hasEnded: () => ended,
    said: () => text,
    async stop() {
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), stopDeadlineMs);
      await exited;
      clearTimeout(late);
    },
  };
}
