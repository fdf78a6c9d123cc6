import { uuidv7 } from 'uuidv7';
import type { Bucket } from '../log/bucket.ts';
import { decodeReplay, encodeReplay, isOver, replayKey, replaysOfDestination } from './replay-job.ts';
import type { ReplayJob, ReplayRequest } from './replay-job.ts';

/** Where replays are asked for, looked at and cancelled. A pipeline carries them out. */
export type ReplayDesk = {
  start(accountId: string, destinationId: string, request: ReplayRequest): Promise<ReplayJob>;
  /** Newest first. */
  list(destinationId: string): Promise<ReplayJob[]>;
  find(destinationId: string, id: string): Promise<ReplayJob | undefined>;
  /** What was put before the destination already is sent; undefined when there is no such replay. */
  cancel(destinationId: string, id: string): Promise<ReplayJob | undefined>;
};

/** Over the REPLAYS bucket. */
export function createReplayDesk(bucket: Bucket): ReplayDesk {
  const find = async (destinationId: string, id: string): Promise<ReplayJob | undefined> =>
    decodeReplay((await bucket.get(replayKey(destinationId, id)))?.value);
  return {
    find,
    async start(accountId, destinationId, request) {
      const nowMs = Date.now();
      const job: ReplayJob = {
        v: 1,
        id: uuidv7(),
        accountId,
        destinationId,
        request,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
        state: 'waiting',
        scanned: 0,
        queued: 0,
      };
      await bucket.put(replayKey(destinationId, job.id), encodeReplay(job));
      return job;
    },
    async list(destinationId) {
      const keys = await bucket.keys(replaysOfDestination(destinationId));
      const jobs = await Promise.all(keys.map(async (key) => decodeReplay((await bucket.get(key))?.value)));
      const known = jobs.filter((job) => job !== undefined);
      // Ids are made in the order of time.
      return known.toSorted((a, b) => (a.id < b.id ? 1 : -1));
    },
    async cancel(destinationId, id) {
      const key = replayKey(destinationId, id);
      for (;;) {
        const entry = await bucket.get(key);
        const job = decodeReplay(entry?.value);
        if (entry === undefined || job === undefined || isOver(job)) return job;
        const cancelling: ReplayJob = { ...job, state: 'cancelling', updatedAtMs: Date.now() };
        // The pipeline may have noted progress meanwhile.
        const stored = await bucket.putIfUnchanged(key, encodeReplay(cancelling), entry.revision);
        if (stored !== undefined) return cancelling;
      }
    },
  };
}
