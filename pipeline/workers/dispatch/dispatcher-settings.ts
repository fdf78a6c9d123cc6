import type { Static, TObject } from 'typebox';
import type { SenderLimits } from '../../../shared/egress/sender.ts';
import { activityEnv } from '../../../shared/contracts/activity-settings.ts';
import { count, optionalText } from '../../../shared/runtime/variables.ts';
import { readQuotaSettings, quotaEnv } from '../../../shared/limits/index.ts';
import type { QuotaSettings } from '../../../shared/limits/index.ts';
import type { OrderLimits } from './waiting/visitor-order.ts';
import type { AccessRetry } from './sending/request-gate.ts';

export type DispatcherSettings = {
  /** Requests in flight to one destination, at most. */
  readonly concurrency: number;
  /** How long a batch that is not full may wait for more while others are in flight, in ms. */
  readonly lingerMs: number;
  /** Events held in memory before pulling pauses. */
  readonly eventsHeldMax: number;
  /** Bytes of frames held in memory before pulling pauses. */
  readonly bytesHeldMax: number;
  /** Frames pulled ahead, at most. */
  readonly framesBufferedMax: number;
  /** Frames above the oldest one that is not finished, at most. */
  readonly framesAheadMax: number;
  /** After this long without a word from us the server delivers a frame again, in ms. */
  readonly ackWaitMs: number;
  readonly healthFlushMs: number;
  /** How long what became of attempts is kept by the hour. */
  readonly hoursKept: number;
  readonly retryWindowMs: number;
  readonly accessRetry: AccessRetry;
  /** Past any of them no fresh events are taken. */
  readonly order: OrderLimits;
  /** How often the retry log is checked for events that others wait behind. */
  readonly lostHeadsEveryMs: number;
  /** What one destination may have in the retry log, and what it leaves to others. */
  readonly retryShare: { readonly bytesMax: number } & QuotaSettings;
  /** Events of one request, as the log has them with their visitors; a larger one goes by itself. */
  readonly requestBytesMax: number;
  /** What the rules of one event may cost, and again its request, in units of work. */
  readonly eventWorkMax: number;
  readonly sender: SenderLimits;
};

const kibibyte = 1024;
const mebibyte = 1024 ** 2;
const hourMs = 3_600_000;
const timeout = { unit: 'ms', minimum: 10 } as const;
const size = { unit: 'bytes', minimum: mebibyte } as const;

/** The dispatchers' part of the pipeline's environment. */
export const dispatcherEnv = {
  ...activityEnv,
  ...quotaEnv,
  GEOIP_DATABASE: optionalText(
    "Path of a database of countries or cities in MaxMind's format (.mmdb), of which each thread holds a copy: the region of a visitor who does not say it is looked up by the address, for purposes that hold in some regions only. Without it such a region is unknown, and counts as covered",
  ),
  DISPATCH_CONCURRENCY: count('Requests in flight to one destination', 64, { maximum: 1_024 }),
  DISPATCH_ORIGIN_CONNECTIONS_MAX: count(
    'Connections of one thread to one scheme, host and port, which the destinations of an account share. One that has none gets one beyond these',
    256,
    { maximum: 16_384 },
  ),
  DISPATCH_LINGER_MS: count('How long a batch that is not full waits for more events while others are in flight', 5, {
    unit: 'ms',
    minimum: 0,
  }),
  DISPATCH_EVENTS_HELD_MAX: count('Events one destination holds in memory before it fetches no more', 4_096),
  DISPATCH_BYTES_HELD_MAX: count('Bytes of frames one destination holds in memory', 16 * mebibyte, size),
  DISPATCH_FRAMES_BYTES_MAX: count(
    'Bytes of frames that all destinations of one thread hold in memory together, about: of many each holds and fetches less, one frame at least',
    128 * mebibyte,
    size,
  ),
  DISPATCH_OPENED_FRAMES_BYTES_MAX: count(
    'Bytes of opened frames that one thread keeps for a moment, so that each is opened once for all destinations of its account there',
    16 * mebibyte,
    { unit: 'bytes', minimum: 0 },
  ),
  DISPATCH_FRAMES_BUFFERED_MAX: count('Frames a dispatcher has fetched and not begun', 32),
  DISPATCH_FRAMES_AHEAD_MAX: count(
    'Frames handed out above the oldest one that is not finished: with so many the destination waits for that one',
    4_096,
    { minimum: 64 },
  ),
  DISPATCH_ACK_WAIT_MS: count(
    'A frame not acknowledged for this long is given to a dispatcher again. Each that is in hand takes the log a write three times as often; who takes a destination over, or connects again, does not wait for it',
    60_000,
    { unit: 'ms', minimum: 1_000 },
  ),
  DISPATCH_HEALTH_FLUSH_MS: count(
    'Health windows are stored at most this often, and a quarter as often while nothing is delivered',
    250,
    timeout,
  ),
  DISPATCH_CONNECT_TIMEOUT_MS: count('A connection to a destination is made within this time', 3_000, timeout),
  DISPATCH_HEADERS_TIMEOUT_MS: count('A destination begins to answer within this time', 10_000, timeout),
  DISPATCH_TOTAL_TIMEOUT_MS: count(
    'From the first byte of a request to a destination to the last one of its answer',
    15_000,
    timeout,
  ),
  RETRY_WINDOW_MS: count('How long an event is retried before it becomes a dead letter', 4 * hourMs, {
    unit: 'ms',
    minimum: 1_000,
  }),
  DISPATCH_ACCESS_RETRY_MIN_MS: count(
    'How long a destination that refuses its key or token is paused before the next attempt; doubles each time',
    60_000,
    { unit: 'ms', minimum: 100 },
  ),
  DISPATCH_ACCESS_RETRY_MAX_MS: count('The longest such wait', 600_000, { unit: 'ms', minimum: 100 }),
  DISPATCH_REQUEST_BYTES_MAX: count(
    'Events that go out in one request take no more bytes, with their visitors; a larger one goes by itself. Making a request takes its thread some milliseconds a MiB',
    512 * kibibyte,
    { unit: 'bytes', minimum: 16 * kibibyte },
  ),
  DISPATCH_EVENT_WORK_MAX: count(
    'What the rules of a destination may cost of one event, and again the templates of its request, in characters looked at or written, each some nanoseconds: an event that takes more becomes a dead letter',
    2_000_000,
    { minimum: 10_000 },
  ),
  DISPATCH_ROUND_WORK_MAX: count(
    'What the rules and requests of all destinations of one account may cost in one round of a thread, in the same unit: with more of it to do they let the other accounts go first',
    100_000,
    { minimum: 10_000 },
  ),
  DISPATCH_VISITORS_WAITING_MAX: count(
    'Visitors of one destination with an event that is to be retried. Past this, or either of the next two, it takes no fresh events until its retries have made room. Of destinations with order `visitor`',
    100_000,
  ),
  DISPATCH_PARKED_EVENTS_MAX: count('Events of one destination that wait behind those', 200_000),
  DISPATCH_PARKED_BYTES_MAX: count(
    'Bytes these take in the retry log, which all destinations share (LOG_RETRY_BYTES_MAX)',
    64 * mebibyte,
    size,
  ),
  DISPATCH_RETRY_BYTES_MAX: count(
    'Bytes one destination may have in the retry log, parked events included; less where its account has many destinations, which divide its share (LOG_ACCOUNT_SHARE_PERCENT) equally, or where the log is filling (LOG_SHARES_PERCENT). With half of it the destination takes no fresh events until its retries have made room; an event that does not fit becomes a dead letter',
    128 * mebibyte,
    size,
  ),
};

export function readDispatcherSettings(env: Static<TObject<typeof dispatcherEnv>>): DispatcherSettings {
  return {
    concurrency: env.DISPATCH_CONCURRENCY,
    lingerMs: env.DISPATCH_LINGER_MS,
    eventsHeldMax: env.DISPATCH_EVENTS_HELD_MAX,
    bytesHeldMax: env.DISPATCH_BYTES_HELD_MAX,
    framesBufferedMax: env.DISPATCH_FRAMES_BUFFERED_MAX,
    framesAheadMax: env.DISPATCH_FRAMES_AHEAD_MAX,
    ackWaitMs: env.DISPATCH_ACK_WAIT_MS,
    healthFlushMs: env.DISPATCH_HEALTH_FLUSH_MS,
    hoursKept: env.ACTIVITY_HOURS_KEPT,
    retryWindowMs: env.RETRY_WINDOW_MS,
    accessRetry: {
      minMs: env.DISPATCH_ACCESS_RETRY_MIN_MS,
      maxMs: Math.max(env.DISPATCH_ACCESS_RETRY_MIN_MS, env.DISPATCH_ACCESS_RETRY_MAX_MS),
    },
    order: {
      visitorsMax: env.DISPATCH_VISITORS_WAITING_MAX,
      eventsMax: env.DISPATCH_PARKED_EVENTS_MAX,
      bytesMax: env.DISPATCH_PARKED_BYTES_MAX,
    },
    lostHeadsEveryMs: 60_000,
    retryShare: { bytesMax: env.DISPATCH_RETRY_BYTES_MAX, ...readQuotaSettings(env) },
    requestBytesMax: env.DISPATCH_REQUEST_BYTES_MAX,
    eventWorkMax: env.DISPATCH_EVENT_WORK_MAX,
    sender: {
      connectionsMax: env.DISPATCH_ORIGIN_CONNECTIONS_MAX,
      connectTimeoutMs: env.DISPATCH_CONNECT_TIMEOUT_MS,
      headersTimeoutMs: env.DISPATCH_HEADERS_TIMEOUT_MS,
      totalTimeoutMs: env.DISPATCH_TOTAL_TIMEOUT_MS,
    },
  };
}
