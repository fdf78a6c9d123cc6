import { isDeepStrictEqual } from 'node:util';
import { uuidv7 } from 'uuidv7';
import type { Bucket } from './bucket.ts';
import { replaysBytesMax } from './open-buckets.ts';
import { readEntries } from './read-entries.ts';
import {
  allReplays,
  byTurn,
  decodeReplay,
  encodeReplay,
  isOver,
  replayKey,
  replaysOfDestination,
} from '../../contracts/replay-job.ts';
import type { ReplayJob, ReplayRequest, StoredReplay } from '../../contracts/replay-job.ts';

/** Requests, lists and cancels replays. A pipeline carries them out. */
export type ReplayStore = {
  /**
   * Requests a replay. If the same replay was requested and is not over, returns the existing replay, so that a
   * repeated request sends nothing twice. Throws TooManyReplaysError.
   */
  start(accountId: string, destinationId: string, request: ReplayRequest): Promise<ReplayJob>;
  /** Newest first. */
  list(destinationId: string): Promise<ReplayJob[]>;
  find(destinationId: string, id: string): Promise<ReplayJob | undefined>;
  /**
   * Cancels a replay. Events that already reached the destination's retry log are still sent. Undefined if there is no
   * such replay.
   */
  cancel(destinationId: string, id: string): Promise<ReplayJob | undefined>;
};

/** Maximum number of replays of one destination that are not over, and of replays that are over and still listed. */
export const replaysWaitingMax = 10;
const replaysOverMax = 50;
/** Maximum number of waiting replays of one account, since all accounts share the bucket. */
const replaysOfAccountWaitingMax = 100;
const replaysOfAccountOverMax = 500;
/** Maximum size of the replays of one account: a replay that lists event ids may be large. */
const bytesOfAccountMax = replaysBytesMax / 16;
/** Bytes that the log stores with each replay. */
const headBytes = 256;

export class TooManyReplaysError extends Error {
  readonly code = 'too_many_replays';
}

/** Stores replays in the REPLAYS bucket. */
export function createReplayStore(bucket: Bucket): ReplayStore {
  const find = async (destinationId: string, id: string): Promise<ReplayJob | undefined> =>
    decodeReplay((await bucket.get(replayKey(destinationId, id)))?.value);
  const list = async (destinationId: string): Promise<ReplayJob[]> => {
    const stored = await readAll(bucket, replaysOfDestination(destinationId));
    // Ids ascend with time.
    return stored.map(({ job }) => job).toSorted((a, b) => (a.id < b.id ? 1 : -1));
  };
  /**
   * Enforces the account's quota of the bucket: removes its oldest replays that are over, and refuses a new replay if
   * too many wait.
   */
  const makeRoom = async (next: ReplayJob): Promise<void> => {
    const all = (await readAll(bucket, allReplays)).map(({ job }) => job);
    const own = all.filter((job) => job.accountId === next.accountId);
    const over = own.filter(isOver).toSorted((a, b) => (a.id < b.id ? 1 : -1));
    const waiting = own.filter((job) => !isOver(job));
    let room = bytesOfAccountMax - sizeOf(next);
    for (const job of waiting) room -= sizeOf(job);
    if (waiting.length >= replaysOfAccountWaitingMax || room < 0)
      throw new TooManyReplaysError('too many replays of the account wait');
    for (const [index, job] of over.entries()) {
      room -= sizeOf(job);
      const isKept = room >= 0 && index < replaysOfAccountOverMax - 1;
      if (!isKept) await bucket.delete(replayKey(job.destinationId, job.id));
    }
  };
  const sameAs = (jobs: readonly ReplayJob[], request: ReplayRequest): ReplayJob | undefined =>
    jobs.find((job) => !isOver(job) && job.state !== 'cancelling' && isDeepStrictEqual(job.request, request));
  const cancel: ReplayStore['cancel'] = async (destinationId, id) => {
    const key = replayKey(destinationId, id);
    for (;;) {
      const entry = await bucket.get(key);
      const job = decodeReplay(entry?.value);
      if (entry === undefined || job === undefined || isOver(job)) return job;
      // A replay without an owner ends at once; otherwise its owner sees the state and stops.
      const state = job.owner === undefined ? 'cancelled' : 'cancelling';
      const cancelled: ReplayJob = { ...job, state, updatedAtMs: Date.now() };
      // The pipeline may have recorded progress meanwhile.
      const stored = await bucket.putIfUnchanged(key, encodeReplay(cancelled), entry.revision);
      if (stored !== undefined) return cancelled;
    }
  };
  return {
    find,
    list,
    cancel,
    async start(accountId, destinationId, request) {
      const jobs = await list(destinationId);
      const same = sameAs(jobs, request);
      if (same !== undefined) return same;
      if (jobs.filter((job) => !isOver(job)).length >= replaysWaitingMax)
        throw new TooManyReplaysError('too many replays of the destination wait');
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
      await makeRoom(job);
      for (const { id } of jobs.filter(isOver).slice(replaysOverMax)) await bucket.delete(replayKey(destinationId, id));
      await bucket.put(replayKey(destinationId, job.id), encodeReplay(job));
      // When several replays of one range were requested at once, the first one stored wins: the later ones see it.
      const stored = await readAll(bucket, replaysOfDestination(destinationId));
      const jobsByTurn = stored.toSorted(byTurn).map((one) => one.job);
      const first = sameAs(jobsByTurn, request) ?? job;
      if (first.id !== job.id) await cancel(destinationId, job.id);
      return first;
    },
  };
}

const sizeOf = (job: ReplayJob): number => encodeReplay(job).length + headBytes;

async function readAll(bucket: Bucket, filter: string): Promise<readonly StoredReplay[]> {
  return (await readEntries(bucket, filter)).flatMap((entry) => {
    const job = decodeReplay(entry.value);
    return job === undefined ? [] : [{ job, entry }];
  });
}
