import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeJson, encodeJson } from '../runtime/json.ts';
import { assertId } from './subjects.ts';

const instant = Type.Integer({ minimum: 0 });

/** Maximum number of events that a replay may list: a replay job is one message. */
export const replayedEventsMax = 100;

/** Which events are sent to a destination again. Times are in ms since the epoch. */
export const replayRequest = Type.Union([
  Type.Object(
    {
      what: Type.Literal('dead-letters'),
      /** Only dead letters with this reason. */
      reason: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
      /**
       * Only dead letters that the platform rejected with this message. Builds that do not know this field leave the
       * replay to other instances.
       */
      message: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
      /** Only dead letters of these events. */
      eventIds: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 400 }), { minItems: 1, maxItems: replayedEventsMax }),
      ),
      /** Only dead letters whose last attempt was in this range. */
      fromMs: Type.Optional(instant),
      toMs: Type.Optional(instant),
    },
    { additionalProperties: false },
  ),
  /** Events of the account's log that were resolved between these times; the live rules decide about each event. */
  Type.Object({ what: Type.Literal('log'), fromMs: instant, toMs: instant }, { additionalProperties: false }),
]);

export type ReplayRequest = Static<typeof replayRequest>;

const replayJob = Type.Object({
  v: Type.Literal(1),
  id: Type.String(),
  accountId: Type.String(),
  destinationId: Type.String(),
  request: replayRequest,
  createdAtMs: instant,
  updatedAtMs: instant,
  state: Type.Enum(['waiting', 'running', 'cancelling', 'cancelled', 'done']),
  /** The pipeline instance that works on the replay. */
  owner: Type.Optional(Type.String()),
  /** Sequences in the stream that the replay reads: where it began, where it continues and where it ends. */
  firstSeq: Type.Optional(Type.Integer()),
  nextSeq: Type.Optional(Type.Integer()),
  endSeq: Type.Optional(Type.Integer()),
  /** Number of messages that were read, and of events that were queued for the destination again. */
  scanned: Type.Integer(),
  queued: Type.Integer(),
});

/** A replay and its progress: the value of `replay.<destination>.<id>` in the REPLAYS bucket. */
export type ReplayJob = Static<typeof replayJob>;

const isReplayJob = Compile(replayJob);

export const replayKey = (destinationId: string, id: string): string =>
  `replay.${assertId(destinationId)}.${assertId(id)}`;
export const replaysOfDestination = (destinationId: string): string => `replay.${assertId(destinationId)}.*`;
export const allReplays = 'replay.*.*';

export function encodeReplay(job: ReplayJob): Uint8Array {
  return encodeJson(job);
}

/** Reads a stored replay; undefined for a format that this build does not know. */
export function decodeReplay(value: Uint8Array | undefined): ReplayJob | undefined {
  const job = decodeJson(value);
  return isReplayJob.Check(job) ? job : undefined;
}

/** Whether the replay is done or cancelled. */
export function isOver({ state }: ReplayJob): boolean {
  return state === 'done' || state === 'cancelled';
}

/** A replay as it is stored. */
export type StoredReplay = { readonly job: ReplayJob; readonly entry: { readonly revision: number } };

/**
 * The order in which the replays of a destination run: one that has begun, then the others as they were stored. Their
 * ids do not decide, because a replay with an older id may be stored later.
 */
export function byTurn(a: StoredReplay, b: StoredReplay): number {
  return Number(hasBegun(b.job)) - Number(hasBegun(a.job)) || a.entry.revision - b.entry.revision;
}

const hasBegun = ({ owner, nextSeq }: ReplayJob): boolean => owner !== undefined || nextSeq !== undefined;

/** The fraction of a replay's range that is finished, from 0 to 1. */
export function shareDone({ state, firstSeq, nextSeq, endSeq }: ReplayJob): number {
  if (state === 'done') return 1;
  if (firstSeq === undefined || nextSeq === undefined || endSeq === undefined || endSeq < firstSeq) return 0;
  return Math.min(1, (nextSeq - firstSeq) / (endSeq - firstSeq + 1));
}
