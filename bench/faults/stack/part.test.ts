import { expect, test } from 'vitest';
import { startPart } from './part.ts';

test('part: a signal while no process runs throws, so that no fault counts it as caused', async () => {
  const ended = { pid: 2 ** 22 + 1, exited: Promise.resolve({ code: 1, signal: null }), stop: () => Promise.resolve() };
  const part = await startPart({ name: 'one', say: () => undefined, start: () => Promise.resolve(ended) });
  part.hold();
  await expect.poll(() => part.pid).toBe(0);
  expect(() => part.signal('SIGKILL')).toThrow('one has no process');
  await expect(part.signalFamily('SIGSTOP')).rejects.toThrow('one has no process');
  await part.stop();
});
