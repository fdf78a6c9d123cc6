import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { PublishFailure } from '../../shared/nats/publish/publish-answer.ts';
import { EventSlice } from './frame.ts';
import { GroupCommit } from './group-commit.ts';
import { LogGate } from './log-gate.ts';
import { createStoreFrame } from './store-frame.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const deadlineMs = 2_000;
/** The part of the deadline that is kept free for sending the answer, in ms. */
const leftMs = deadlineMs * 0.1;

/** The log's answer to one try of a publish, and its delay. A try without an answer lasts until its timeout. */
type LogAnswer = { readonly afterMs: number; readonly says: 'stored' | PublishFailure };

const logAnswer: fc.Arbitrary<LogAnswer> = fc.record({
  afterMs: fc.oneof(fc.nat(20), fc.nat(1_900)),
  says: fc.constantFrom('stored', 'stored', 'timeout', 'busy', 'disconnected', 'full'),
});
const arrival = fc.record({ afterMs: fc.nat(400), partition: fc.nat(3), bytes: fc.nat(600) });

/** A log whose disk stalls now and then: the tries get `answers` in turn. */
function createLog(answers: readonly LogAnswer[]) {
  let tries = 0;
  return {
    async publish(_subject: string, _payload: Uint8Array, _msgId: string, timeoutMs: number) {
      const { afterMs, says } = answers[tries % answers.length] ?? { afterMs: 0, says: 'stored' };
      tries += 1;
      const isInTime = says !== 'timeout' && afterMs < timeoutMs;
      await new Promise((resolve) => setTimeout(resolve, isInTime ? afterMs : timeoutMs));
      if (!isInTime) return 'timeout';
      return says === 'stored' ? undefined : says;
    },
    stop: () => undefined,
  };
}

test('answered in time: whatever the log does, an event is decided before nine tenths of the deadline have passed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(logAnswer, { minLength: 1, maxLength: 12 }),
      fc.array(arrival, { minLength: 1, maxLength: 30 }),
      fc.integer({ min: 1, max: 4 }),
      async (answers, arrivals, framesInFlightMax) => {
        const gate = new LogGate(() => true);
        const store = createStoreFrame(createLog(answers), { writerId: 'w', timeoutMs: 800 }, () => undefined);
        const settings = { partitions: 4, frameBytesMax: 1_024, frameLingerMs: 5, roundBytes: 2_048 };
        const queue = { framesInFlightMax, queueEventsMax: 1_000, queueBytesMax: 1024 ** 2, deadlineMs };
        const commit = new GroupCommit({ ...settings, ...queue }, { msAt: () => 5 }, gate, store);
        const waited: number[] = [];
        let appended = 0;
        for (const { afterMs, partition, bytes } of arrivals) {
          await vi.advanceTimersByTimeAsync(afterMs);
          // The canary does this once the log answers again.
          gate.noteAlive();
          const atMs = performance.now();
          const body = Buffer.from(JSON.stringify({ filler: 'x'.repeat(bytes) }));
          const frameDecided = (): void => void waited.push(performance.now() - atMs);
          commit.append(partition, '{"v":1,"body":', new EventSlice(body, 'a'), { frameDecided }, 0);
          appended += 1;
        }
        await vi.advanceTimersByTimeAsync(deadlineMs);
        commit.stop();
        expect(waited).toHaveLength(appended);
        expect(Math.max(...waited)).toBeLessThanOrEqual(deadlineMs - leftMs);
      },
    ),
    { numRuns: 150 },
  );
});
