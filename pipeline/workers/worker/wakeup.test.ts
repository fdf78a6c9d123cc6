import { expect, test, vi } from 'vitest';
import { Wakeup } from './wakeup.ts';

test('wakeup: after several rings, the next wait ends at once, but not the wait after it', async () => {
  const wakeup = new Wakeup();
  wakeup.ring();
  wakeup.ring();
  await wakeup.wait();
  let isOver = false;
  const waiting = wakeup.wait().then(() => (isOver = true));
  await Promise.resolve();
  expect(isOver).toBe(false);
  wakeup.ring();
  await waiting;
  expect(isOver).toBe(true);
});

test('wakeup: without a ring the wait ends after its timeout', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const wakeup = new Wakeup();
    let isOver = false;
    const waiting = wakeup.wait(1_000).then(() => (isOver = true));
    await vi.advanceTimersByTimeAsync(999);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await waiting;
    expect(isOver).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});
