import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { encodeReplay, replayKey } from '../../../shared/contracts/replay-job.ts';
import type { ReplayJob } from '../../../shared/contracts/replay-job.ts';
import type { Bucket } from '../../../shared/nats/buckets/bucket.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { startReplayRunner } from './replay-runner.ts';

const job = (id: string, changes: Partial<ReplayJob> = {}): ReplayJob => ({
  v: 1,
  id,
  accountId: 'account',
  destinationId: 'destination',
  request: { what: 'dead-letters' },
  createdAtMs: 0,
  updatedAtMs: 0,
  state: 'waiting',
  scanned: 0,
  queued: 0,
  ...changes,
});

/** The keys of the replays that a runner claims of those in the bucket, which are given in the order of their puts. */
async function claimed(...jobs: readonly ReplayJob[]): Promise<readonly string[]> {
  const keys: string[] = [];
  const bucket: Pick<Bucket, 'watch' | 'putIfUnchanged'> = {
    async watch({ onEntry, onReady }) {
      for (const [index, one] of jobs.entries()) {
        const key = replayKey(one.destinationId, one.id);
        onEntry({ key, value: encodeReplay(one), revision: index + 1, storedAtMs: 0 });
      }
      onReady?.();
      return { stop: () => undefined, stopped: Promise.resolve() };
    },
    async putIfUnchanged(key) {
      keys.push(key);
      return undefined;
    },
  };
  const runner = await startReplayRunner({
    connection: { connected: true, onReconnect: () => () => undefined } as unknown as LogConnection,
    bucket: bucket as Bucket,
    instanceId: 'own',
    erasures: { isEventErased: () => false, untilCurrent: async () => undefined },
    logger: pino({ level: 'silent' }),
    isLive: () => true,
  });
  onTestFinished(() => runner.stop());
  return [...new Set(keys)];
}

test.each(['running', 'cancelling'] as const)(
  'replay runner: while a replay is %s elsewhere, no other of its destination begins, not even one with an older id',
  async (state) => {
    const elsewhere = job('b', { state, owner: 'other' });
    const another = job('c', { destinationId: 'other-destination' });
    const begins = [replayKey('other-destination', 'c')];
    expect(await claimed(elsewhere, job('a'), another)).toEqual(begins);
    // An entry moves to the end of the bucket with every heartbeat.
    expect(await claimed(job('d'), another, elsewhere)).toEqual(begins);
  },
);

test('replay runner: the replay that was stored first begins first, because every instance sees the same order', async () => {
  expect(await claimed(job('b'), job('a'))).toEqual([replayKey('destination', 'b')]);
});

test('replay runner: a replay that paused in the middle continues before another begins', async () => {
  const paused = job('b', { nextSeq: 5, firstSeq: 1, endSeq: 9 });
  expect(await claimed(job('a'), paused)).toEqual([replayKey('destination', 'b')]);
});
