import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { PublishFailure } from '../../shared/nats/publish/publish-answer.ts';
import { createStoreFrame } from './store-frame.ts';

beforeEach(() => {
  // The clock is faked too, so that the measured times equal the times of the timers on any machine.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A log that answers the n-th try at once with `answer(n)`; a `timeout` takes the whole timeout. */
function createRig(answer: (nth: number) => PublishFailure | undefined) {
  const tries: { readonly msgId: string; readonly timeoutMs: number }[] = [];
  const publisher = {
    async publish(_subject: string, _payload: Uint8Array, msgId: string, timeoutMs: number) {
      tries.push({ msgId, timeoutMs });
      const given = answer(tries.length);
      if (given === 'timeout') await new Promise((resolve) => setTimeout(resolve, timeoutMs));
      return given;
    },
    stop: () => undefined,
  };
  const store = createStoreFrame(publisher, { writerId: 'w', timeoutMs: 800 }, () => undefined);
  const run = async (): Promise<{ outcome: string; tookMs: number }> => {
    const startedMs = performance.now();
    const storing = store(0, Buffer.from('x'), startedMs + 2_000).then((outcome) => ({
      outcome,
      tookMs: performance.now() - startedMs,
    }));
    // Advances by a time, not until no timer is left, because other code in the process may have timers that never end.
    await vi.advanceTimersByTimeAsync(10_000);
    return storing;
  };
  return { run, tries };
}

test('store frame: while the log answers that it is busy, the frame is sent again under the same id', async () => {
  const rig = createRig((nth) => (nth < 6 ? 'busy' : undefined));
  expect((await rig.run()).outcome).toBe('stored');
  expect(rig.tries).toHaveLength(6);
  expect(new Set(rig.tries.map(({ msgId }) => msgId)).size).toBe(1);
});

test('store frame: if the log stays busy, the frame fails before the deadline', async () => {
  const rig = createRig(() => 'busy');
  const { outcome, tookMs } = await rig.run();
  expect(outcome).toBe('busy');
  expect(tookMs).toBeLessThan(2_000);
});

test('store frame: if the first answer is lost and later answers name no sequence, the frame counts as not stored', async () => {
  const rig = createRig((nth) => (nth === 1 ? 'timeout' : 'busy'));
  const { outcome, tookMs } = await rig.run();
  expect(outcome).toBe('busy');
  expect(rig.tries.length).toBeGreaterThan(1);
  expect(tookMs).toBeLessThan(2_000);
});

test('store frame: without any answer, the frame is sent twice within the deadline', async () => {
  const rig = createRig(() => 'timeout');
  const { outcome, tookMs } = await rig.run();
  expect(outcome).toBe('timeout');
  expect(rig.tries).toHaveLength(2);
  expect(tookMs).toBeLessThan(2_000);
});

test('store frame: a refusal is final', async () => {
  const rig = createRig(() => 'full');
  expect((await rig.run()).outcome).toBe('full');
  expect(rig.tries).toHaveLength(1);
});
