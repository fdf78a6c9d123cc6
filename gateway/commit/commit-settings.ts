import type { Static, TObject } from 'typebox';
import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { count, derivedCount } from '../../shared/runtime/variables.ts';

const kibibyte = 1024;
const mebibyte = 1024 ** 2;

/** nats-server counts the headers of a message (its id and its predecessor) as part of its size. */
const headerBytesMax = 512;
/** A single event larger than this gets a frame of its own. */
const frameBytesMax = 512 * kibibyte;
/** In a replicated log each message costs a vote and a sync on every server, so fewer, fuller messages are cheaper. */
const rounds = {
  single: { ms: 10, bytes: 24 * kibibyte },
  replicated: { ms: 15, bytes: 128 * kibibyte },
} as const;

/**
 * Minimum time between two small rounds of frames while this process waits for a processor for more than half of its
 * runnable time, because a frame that is sent sooner would only wait elsewhere.
 */
const crowdedRoundMs = 25;

export const requestDeadline = {
  REQUEST_DEADLINE_MS: count(
    'Time in which a request is answered after its body arrived (by the control plane, if the request is for an experiment). Each of two attempts to publish gets two fifths of this time',
    2_000,
    { unit: 'ms', minimum: 500 },
  ),
};

const settings = defineSettings({
  /** Time after which a growing frame is sent although another frame is in flight. */
  frameLingerMs: 5,
  roundMs: fromEnv({
    FRAME_ROUND_MS: derivedCount(
      'Minimum time between two small rounds of frames; up to 25 if the process waits for CPU. 0: a round is sent as soon as the previous round is stored',
      { usually: rounds.single.ms, orElse: `${rounds.replicated.ms} if LOG_REPLICAS is over 1` },
      { unit: 'ms', minimum: 0 },
    ),
  }),
  framesInFlightMax: fromEnv({
    FRAMES_IN_FLIGHT_MAX: count('Publishes in flight over all partitions; at most one per partition', 2),
  }),
  /** Events that wait for the log or are on their way to it; half of them may be of one account. */
  queueEventsMax: 100_000,
  queueBytesMax: fromEnv({
    QUEUE_BYTES_MAX: count(
      'Bytes of events that wait for the log or are on their way to it, 100,000 events at most; one account may use half of both. Beyond it the answer is 503',
      64 * mebibyte,
      { unit: 'bytes', minimum: mebibyte },
    ),
  }),
  deadlineMs: fromEnv(requestDeadline),
  /** Timeout of one try of a publish. A request's deadline has room for two tries. */
  publishTimeoutMs: fromEnv(requestDeadline, (env) => env.REQUEST_DEADLINE_MS * 0.4),
});

export const commitEnv = settings.variables;

/** The shape of the log: its partitions, the copies of each stream, and the maximum size of its messages in bytes. */
export type CommitTarget = {
  readonly partitions: number;
  readonly replicas: number;
  readonly messageBytesMax: number;
};

export function readCommitSettings(
  env: Static<TObject<typeof commitEnv>>,
  { partitions, replicas, messageBytesMax }: CommitTarget,
) {
  const round = replicas > 1 ? rounds.replicated : rounds.single;
  const { roundMs = round.ms, ...others } = settings.read(env);
  return {
    ...others,
    partitions,
    frameBytesMax: Math.min(frameBytesMax, messageBytesMax - headerBytesMax),
    /** A round of this size is sent at once; a round of half this size waits half as long. */
    roundBytes: round.bytes,
    rounds: { usualMs: roundMs, crowdedMs: roundMs === 0 ? 0 : Math.max(roundMs, crowdedRoundMs) },
  };
}
