import { afterEach, expect, test, vi } from 'vitest';
import type { ControlAccess } from '../system/control-client.ts';
import { readBeside } from './read-beside.ts';

afterEach(() => void vi.useRealTimers());

test('concurrent reads: go on while the work runs', async () => {
  const call = vi.fn<ControlAccess['call']>(() => Promise.resolve({}));
  const { result, p90Ms } = await readBeside({ call }, () =>
    vi.waitUntil(() => call.mock.calls.length >= 2, { timeout: 60_000 }),
  );
  expect(result).toBe(true);
  expect(p90Ms).toBeLessThan(60_000);
});

test('concurrent reads: end when the work throws', async () => {
  vi.useFakeTimers();
  const call = vi.fn<ControlAccess['call']>(() => Promise.resolve({}));
  const failed = readBeside({ call }, () => Promise.reject(new Error('the sink is away'))).catch(String);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await failed).toBe('Error: the sink is away');
  const reads = call.mock.calls.length;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(call.mock.calls.length).toBe(reads);
});
