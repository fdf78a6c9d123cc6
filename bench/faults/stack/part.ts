import { childrenOf } from '../../machine/process-use.ts';
import { keepRunning } from '../../../deploy/local/keep-running.ts';
import type { Runnable } from '../../../deploy/local/keep-running.ts';

/** A process of the stack, restarted whenever it ends, as by the launcher or a systemd unit. */
export type Part = {
  readonly name: string;
  /** Process id; 0 while no process runs. */
  readonly pid: number;
  /** Number of processes started so far. */
  readonly starts: number;
  /** Sends a signal to the process; throws while no process runs. */
  signal(signal: NodeJS.Signals): void;
  /** Sends a signal to the process and to its child processes; throws while no process runs. */
  signalFamily(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  /** Prevents restarts until `release`. */
  hold(): void;
  release(): void;
  /** Stops the process; it is not restarted. */
  stop(): Promise<void>;
};

export type PartOptions = {
  readonly name: string;
  start(): Promise<Runnable & { readonly pid: number }>;
  say(line: string): void;
};

export async function startPart({ name, start, say }: PartOptions): Promise<Part> {
  const stopping = new AbortController();
  let pid = 0;
  let starts = 0;
  let held: Promise<void> | undefined;
  let release: () => void = () => undefined;
  const kept = await keepRunning({
    name,
    say,
    start: async () => {
      await held;
      stopping.signal.throwIfAborted();
      const running = await start();
      starts += 1;
      pid = running.pid;
      void running.exited.then(() => {
        if (pid === running.pid) pid = 0;
      });
      return running;
    },
  });
  const signal = (which: NodeJS.Signals): void => {
    if (pid === 0) throw new Error(`${name} has no process that could get ${which}`);
    // The process is not reaped before its exit event, so no other process has its id yet.
    process.kill(pid, which);
  };
  const signalFamily = async (which: 'SIGSTOP' | 'SIGCONT'): Promise<void> => {
    const children = await childrenOf(pid);
    signal(which);
    for (const child of children) {
      try {
        process.kill(child, which);
      } catch {
        // The child has already ended.
      }
    }
  };
  return {
    name,
    get pid() {
      return pid;
    },
    get starts() {
      return starts;
    },
    signal,
    signalFamily,
    hold() {
      held ??= new Promise((resolve) => {
        release = () => {
          held = undefined;
          resolve();
        };
      });
    },
    release: () => release(),
    async stop() {
      stopping.abort();
      release();
      // A stopped process does not receive SIGTERM. There may be no process.
      await signalFamily('SIGCONT').catch(() => undefined);
      await kept.stop();
    },
  };
}
