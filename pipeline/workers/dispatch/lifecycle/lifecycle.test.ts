import { expect, test, vi } from 'vitest';
import { Lifecycle } from './lifecycle.ts';

function open() {
  const steps: string[] = [];
  const lifecycle = new Lifecycle({
    drain: async () => void steps.push('drain'),
    close: async () => void steps.push('close'),
  });
  return { lifecycle, steps };
}

test('lifecycle: a second end waits for answers too, and the first end decides how the dispatcher ends', async () => {
  const { lifecycle, steps } = open();
  const first = lifecycle.end('order changed', 60_000);
  const second = lifecycle.end('stopped', 60_000);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([steps, lifecycle.isDraining]).toEqual([['drain'], true]);
  lifecycle.drained();
  await Promise.all([first, second]);
  expect(steps).toEqual(['drain', 'close']);
  expect(await lifecycle.done).toBe('order changed');
});

test('lifecycle: the earliest deadline of all ends closes a dispatcher that is not drained', async () => {
  vi.useFakeTimers();
  try {
    for (const [firstMs, secondMs] of [
      [60_000, 1_000],
      [1_000, 60_000],
    ] as const) {
      const { lifecycle, steps } = open();
      const ends = Promise.all([lifecycle.end('order changed', firstMs), lifecycle.end('stopped', secondMs)]);
      await vi.advanceTimersByTimeAsync(999);
      expect(steps).toEqual(['drain']);
      await vi.advanceTimersByTimeAsync(1);
      expect(steps).toEqual(['drain', 'close']);
      await ends;
    }
  } finally {
    vi.useRealTimers();
  }
});

test('lifecycle: a failure ends a dispatcher that is draining, and every call that waits', async () => {
  const { lifecycle, steps } = open();
  const ends = Promise.all([lifecycle.end('order changed', 60_000), lifecycle.end('stopped', 60_000)]);
  lifecycle.fail(new Error('taken over'));
  await ends;
  expect(steps).toEqual(['drain', 'close']);
  await expect(lifecycle.done).rejects.toThrow('taken over');
});
