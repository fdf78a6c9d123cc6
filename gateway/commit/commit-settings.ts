import type { Static, TObject } from 'typebox';
import { count } from '../../shared/runtime/variables.ts';
import type { GroupCommitSettings } from './group-commit.ts';

const kibibyte = 1024;
const mebibyte = 1024 ** 2;

export const commitEnv = {
  FRAME_BYTES_MAX: count('A frame is closed at this size; a larger single event has one to itself', 512 * kibibyte, {
    unit: 'bytes',
    minimum: kibibyte,
  }),
  FRAME_LINGER_MS: count('How long a frame grows while another one is in flight before it is sent beside it', 5, {
    unit: 'ms',
    minimum: 0,
  }),
  FRAME_ROUND_MS: count(
    'Least time between two rounds of frames; 0 sends a round as soon as the one before is stored',
    5,
    { unit: 'ms', minimum: 0 },
  ),
  FRAME_ROUND_BYTES: count('With this much to send a round waits no longer', 16 * kibibyte, { unit: 'bytes' }),
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

export function readCommitSettings(
  env: Static<TObject<typeof commitEnv>>,
  partitions: number,
  messageBytesMax: number,
): GroupCommitSettings {
  return {
    partitions,
    frameBytesMax: Math.min(env.FRAME_BYTES_MAX, messageBytesMax),
    frameLingerMs: env.FRAME_LINGER_MS,
    roundMs: env.FRAME_ROUND_MS,
    roundBytes: env.FRAME_ROUND_BYTES,
    framesInFlightMax: env.FRAMES_IN_FLIGHT_MAX,
    queueEventsMax: env.QUEUE_EVENTS_MAX,
    queueBytesMax: env.QUEUE_BYTES_MAX,
    deadlineMs: env.REQUEST_DEADLINE_MS,
  };
}
