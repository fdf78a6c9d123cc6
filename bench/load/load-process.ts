import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { LoadResult } from './closed-loop.ts';

/** What a load process is asked to do. */
export type LoadOrder = {
  readonly url: string;
  readonly bodies: readonly string[];
  readonly connections: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
};

export type LoadMessage =
  | { readonly kind: 'progress'; readonly answersPerS: number }
  | { readonly kind: 'result'; readonly result: LoadResult };

/** Runs a closed loop in a process of its own, so that the generator never shares an event loop with what it measures. */
export function runLoad(order: LoadOrder, onProgress: (answersPerS: number) => void): Promise<LoadResult> {
  const child = fork(fileURLToPath(new URL('./load-main.ts', import.meta.url)), [], {
    execArgv: ['--import', 'tsx'],
    serialization: 'advanced',
  });
  const timeoutMs = order.warmUpMs + order.measureMs + 30_000;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    child.on('message', (message: LoadMessage) => {
      if (message.kind === 'progress') onProgress(message.answersPerS);
      else resolve(message.result);
    });
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      // After a result this rejects a settled promise, which is nothing.
      reject(new Error(`running load: the generator ended early (${code ?? signal})`));
    });
    child.send(order);
  });
}
