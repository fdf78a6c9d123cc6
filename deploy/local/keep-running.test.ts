import { EventEmitter } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { cannotStartExitCode } from '../../shared/runtime/cannot-start.ts';
import { keepRunning, restartDelayMs } from './keep-running.ts';
import type { Runnable } from './keep-running.ts';

type Fake = Runnable & { readonly number: number; die(code?: number): void };

function fakes(): { readonly started: Fake[]; start(): Promise<Fake> } {
  const started: Fake[] = [];
  return {
    started,
    start() {
      let end: (exit: { code: number | null; signal: string | null }) => void = () => undefined;
      const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
        end = resolve;
      });
      const fake: Fake = {
        number: started.length,
        exited,
        die: (code) => end(code === undefined ? { code: null, signal: 'SIGKILL' } : { code, signal: null }),
        stop: () => {
          end({ code: 0, signal: null });
          return Promise.resolve();
        },
      };
      started.push(fake);
      return Promise.resolve(fake);
    },
  };
}

async function until(condition: () => boolean): Promise<void> {
  await expect.poll(condition, { timeout: 45_000, interval: 5 }).toBe(true);
}

test('keep running: a service that dies is started again, and a line says so', async () => {
  const { started, start } = fakes();
  const lines: string[] = [];
  const kept = await keepRunning({ name: 'gateway', start, say: (line) => lines.push(line), restartDelayMs: () => 1 });
  started[0]?.die();
  await until(() => lines.includes('✓ gateway is running again'));
  expect(lines[0]).toBe('! gateway ended (signal SIGKILL); starting it again in 0.001 s');
  expect(kept.current.number).toBe(1);
  await kept.stop();
  expect(started).toHaveLength(2);
});

test('keep running: a service that restarts many times leaves no listeners behind', async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const { started, start } = fakes();
  const kept = await keepRunning({ name: 'gateway', start, say: () => undefined, restartDelayMs: () => 1 });
  for (let restarts = 0; restarts < EventEmitter.defaultMaxListeners + 1; restarts += 1) {
    started[restarts]?.die();
    await until(() => started.length === restarts + 2);
  }
  await kept.stop();
  expect(warnings).toEqual([]);
});

test('keep running: a service whose exit code says that it cannot start is not started again', async () => {
  const { started, start } = fakes();
  const lines: string[] = [];
  const kept = await keepRunning({ name: 'gateway', start, say: (line) => lines.push(line), restartDelayMs: () => 1 });
  started[0]?.die(1);
  await until(() => lines.includes('✓ gateway is running again'));
  started[1]?.die(cannotStartExitCode);
  await kept.givenUp;
  expect(lines.at(-1)).toBe('! gateway cannot start; it is not started again');
  await kept.stop();
  expect(started).toHaveLength(2);
});

test('keep running: a stop is final, even while a restart waits', async () => {
  const { started, start } = fakes();
  const lines: string[] = [];
  const kept = await keepRunning({ name: 'x', start, say: (line) => lines.push(line), restartDelayMs: () => 60_000 });
  started[0]?.die();
  await until(() => lines.length === 1);
  await kept.stop();
  expect(started).toHaveLength(1);
});

test('keep running: the wait between restarts doubles up to ten seconds', () => {
  expect([0, 1, 2, 3, 4, 5, 50].map(restartDelayMs)).toEqual([50, 500, 1_000, 2_000, 4_000, 8_000, 10_000]);
});
