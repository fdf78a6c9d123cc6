import { expect, test } from 'vitest';
import { decodeReplay, encodeReplay } from '../../contracts/replay-job.ts';
import type { ReplayJob } from '../../contracts/replay-job.ts';
import type { Bucket, BucketEntry } from './bucket.ts';
import { createReplayStore } from './replay-store.ts';

/** A bucket in memory; `beforePut` and `afterPut` may let others act between a request's steps. */
function memoryBucket() {
  const entries = new Map<string, BucketEntry>();
  const hooks = { beforePut: async (): Promise<void> => undefined, afterPut: (_entry: BucketEntry): void => undefined };
  let revision = 0;
  const write = (key: string, value: Uint8Array): BucketEntry => {
    const entry = { key, value, revision: (revision += 1), storedAtMs: 0 };
    entries.set(key, entry);
    return entry;
  };
  const bucket: Bucket = {
    get: async (key) => entries.get(key),
    async put(key, value) {
      await hooks.beforePut();
      const entry = write(key, value);
      hooks.afterPut(entry);
      return entry.revision;
    },
    putIfUnchanged: async (key, value, before) =>
      entries.get(key)?.revision === before ? write(key, value).revision : undefined,
    delete: async (key) => void entries.delete(key),
    keys: async () => [...entries.keys()],
    async watch({ onEntry, onReady }) {
      for (const entry of [...entries.values()].toSorted((a, b) => a.revision - b.revision)) onEntry(entry);
      onReady?.();
      return { stop: () => undefined, stopped: Promise.resolve() };
    },
  };
  const change = (entry: BucketEntry, changes: Partial<ReplayJob>): void => {
    const job = decodeReplay(entry.value);
    if (job !== undefined) write(entry.key, encodeReplay({ ...job, ...changes }));
  };
  return { bucket, hooks, change };
}

test.each(['waits', 'has begun'])(
  'replay store: of two replays that are requested at once, the one stored first stays, which %s, whatever their ids are',
  async (state) => {
    const { bucket, hooks, change } = memoryBucket();
    const store = createReplayStore(bucket);
    const start = () => store.start('account', 'destination', { what: 'dead-letters' });
    let goOn: () => void = () => undefined;
    // The first request has the older id, and is stored second.
    const held = new Promise<void>((resolve) => {
      hooks.beforePut = () => {
        resolve();
        hooks.beforePut = async () => undefined;
        return new Promise((release) => (goOn = release));
      };
    });
    const older = start();
    await held;
    const newer = await start();
    if (state === 'has begun') {
      const stored = await bucket.get(`replay.destination.${newer.id}`);
      hooks.afterPut = () => stored && change(stored, { state: 'running', owner: 'pipeline' });
    }
    goOn();
    expect((await older).id).toBe(newer.id);
    const states = (await store.list('destination')).map(({ id, state }) => [id === newer.id, state]);
    expect(states).toEqual([
      [true, state === 'waits' ? 'waiting' : 'running'],
      [false, 'cancelled'],
    ]);
  },
);
