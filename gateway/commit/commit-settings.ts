import type { Static, TObject } from 'typebox';
import { count, derivedCount } from '../../shared/runtime/variables.ts';
import type { GroupCommitSettings } from './group-commit.ts';
import type { CrowdPaceSettings } from '../../shared/runtime/crowd-pace.ts';

const kibibyte = 1024;
const mebibyte = 1024 ** 2;

/** nats-server counts the headers of a message (its id, and what came before it) as part of its size. */
const headerBytesMax = 512;

/** Each message costs a replicated log a vote and a sync on every server, so fewer and fuller ones are cheaper there. */
const rounds = {
  single: { ms: 10, bytes: 24 * kibibyte },
  replicated: { ms: 15, bytes: 128 * kibibyte },
} as const;

export const commitEnv = {
  FRAME_BYTES_MAX: count('A frame is closed at this size; a larger single event has one to itself', 512 * kibibyte, {
    unit: 'bytes',
    minimum: kibibyte,
  }),
  FRAME_LINGER_MS: count('How long a frame grows while another one is in flight before it is sent beside it', 5, {
    unit: 'ms',
    minimum: 0,
  }),
  FRAME_ROUND_MS: derivedCount(
    'Least time between two small rounds of frames; 0 sends a round as soon as the previous one is stored',
    { usually: rounds.single.ms, orElse: `${rounds.replicated.ms} where LOG_REPLICAS is over 1` },
    { unit: 'ms', minimum: 0 },
  ),
  FRAME_ROUND_CROWDED_MS: count(
    'The same where this process waits for a processor for more than half of the time in which it could run: there a frame that goes sooner only waits elsewhere. FRAME_ROUND_MS or less for no difference',
    25,
    { unit: 'ms', minimum: 0 },
  ),
  FRAME_ROUND_BYTES: derivedCount(
    'With this much to send a round does not wait, with half of it half as long as FRAME_ROUND_MS',
    { usually: rounds.single.bytes, orElse: `${rounds.replicated.bytes} where LOG_REPLICAS is over 1` },
    { unit: 'bytes' },
  ),
  FRAMES_IN_FLIGHT_MAX: count('Publishes in flight over all partitions; at most one a partition', 2),
  QUEUE_EVENTS_MAX: count(
    'Events that wait for the log or are on their way to it. Beyond it the answer is 503',
    100_000,
  ),
  QUEUE_BYTES_MAX: count('Bytes of the same', 64 * mebibyte, { unit: 'bytes', minimum: mebibyte }),
  PUBLISH_TIMEOUT_MS: count("One try of a publish; there are two within a request's deadline", 800, {
    unit: 'ms',
    minimum: 10,
  }),
  REQUEST_DEADLINE_MS: count('A request is answered within this time after its body arrived', 2_000, {
    unit: 'ms',
    minimum: 500,
  }),
};

/** What the log is like: its partitions, the copies of each stream, and the most bytes a message of it may have. */
export type CommitTarget = {
  readonly partitions: number;
  readonly replicas: number;
  readonly messageBytesMax: number;
};

export function readCommitSettings(
  env: Static<TObject<typeof commitEnv>>,
  { partitions, replicas, messageBytesMax }: CommitTarget,
): GroupCommitSettings & { readonly rounds: CrowdPaceSettings } {
  const round = replicas > 1 ? rounds.replicated : rounds.single;
  return {
    partitions,
    frameBytesMax: Math.min(env.FRAME_BYTES_MAX, messageBytesMax - headerBytesMax),
    frameLingerMs: env.FRAME_LINGER_MS,
    rounds: { usualMs: env.FRAME_ROUND_MS ?? round.ms, crowdedMs: env.FRAME_ROUND_CROWDED_MS },
    roundBytes: env.FRAME_ROUND_BYTES ?? round.bytes,
    framesInFlightMax: env.FRAMES_IN_FLIGHT_MAX,
    queueEventsMax: env.QUEUE_EVENTS_MAX,
    queueBytesMax: env.QUEUE_BYTES_MAX,
    deadlineMs: env.REQUEST_DEADLINE_MS,
  };
}
