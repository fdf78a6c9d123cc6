import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchSilence } from './silence-watch.ts';
import type { SilenceWatch } from './silence-watch.ts';

let waitedMs = 0;
let silences = 0;
let watched: SilenceWatch | undefined;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  [waitedMs, silences] = [7_000, 0];
});
afterEach(() => {
  watched?.stop();
  vi.useRealTimers();
});

const watch = (): SilenceWatch =>
  (watched = watchSilence({ silenceMaxMs: 8_000, waitedMs: () => waitedMs, onSilent: () => void (silences += 1) }));

test('silence: a thread that reports in time is never reported as silent; a thread that stops is reported once', () => {
  const { heard } = watch();
  for (let second = 0; second < 30; second += 1) {
    vi.advanceTimersByTime(1_000);
    heard();
  }
  vi.advanceTimersByTime(7_500);
  expect(silences).toBe(0);
  vi.advanceTimersByTime(1_000);
  expect(silences).toBe(1);
  vi.advanceTimersByTime(60_000);
  expect(silences).toBe(1);
});

test('silence: time in which the thread got no processor does not count', () => {
  watch();
  for (let second = 0; second < 30; second += 1) {
    vi.advanceTimersByTime(1_000);
    waitedMs += 900;
  }
  expect(silences).toBe(0);
  vi.advanceTimersByTime(6_000);
  expect(silences).toBe(1);
});

test('silence: a watch that was stopped reports no thread as silent', () => {
  watch().stop();
  vi.advanceTimersByTime(60_000);
  expect(silences).toBe(0);
});
