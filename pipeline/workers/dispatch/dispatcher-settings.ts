import { activityHoursKept } from '../../../shared/contracts/activity-settings.ts';
import { readRequestTimeoutMs, requestTimeoutEnv } from '../../../shared/egress/request-timeout.ts';
import { quotaEnv, readQuotaSettings } from '../../../shared/limits/index.ts';
import { eventWorkMax } from '../../../shared/routing/values/work.ts';
import { defineSettings, fromEnv } from '../../../shared/runtime/settings.ts';
import { count } from '../../../shared/runtime/variables.ts';

const kibibyte = 1024;
const mebibyte = 1024 ** 2;
const hourMs = 3_600_000;
const size = { unit: 'bytes', minimum: mebibyte } as const;

const retryBytes = {
  DISPATCH_RETRY_BYTES_MAX: count(
    'Bytes that one destination may have in the retry log, parked events included. Less if its account has many destinations, which divide the quota of the account (LOG_ACCOUNT_SHARE_PERCENT) equally, or if the log is over 70 % full. Once half is used, the destination gets no fresh events until its retries have made room; an event that does not fit becomes a dead letter',
    128 * mebibyte,
    size,
  ),
};

/** Fraction of DISPATCH_FRAMES_BYTES_MAX that one destination may hold. */
export const heldFraction = 1 / 8;

export const framesBytes = {
  DISPATCH_FRAMES_BYTES_MAX: count(
    'Approximate bytes of frames that all destinations of one thread hold in memory together. One destination holds up to an eighth; if there are many, each holds and fetches less, but at least one frame',
    128 * mebibyte,
    size,
  ),
};

export const { variables: dispatcherEnv, read: readDispatcherSettings } = defineSettings({
  /** Maximum number of requests in flight to one destination. */
  concurrency: fromEnv({
    DISPATCH_CONCURRENCY: count('Requests in flight to one destination', 64, { maximum: 1_024 }),
  }),
  /**
   * How long a batch that is not full waits for more events while other requests are in flight, in ms. For a
   * destination that takes 50 ms and batches of 100, this wait saves a quarter of the requests at 200 events/s and a
   * third at 1,000/s (0.67 to 0.49 and 0.149 to 0.095 requests an event); at 50/s it changes nothing.
   */
  lingerMs: 5,
  /** A destination that holds this many events in memory fetches no more. */
  eventsHeldMax: 4_096,
  bytesHeldMax: fromEnv(framesBytes, (env) => Math.ceil(env.DISPATCH_FRAMES_BYTES_MAX * heldFraction)),
  /** Maximum number of frames that are fetched but not started. */
  framesBufferedMax: 32,
  /**
   * Frames that may be delivered after the oldest unfinished frame; the destination then waits until that frame is
   * finished.
   */
  framesAheadMax: 4_096,
  ackWaitMs: fromEnv({
    DISPATCH_ACK_WAIT_MS: count(
      'A frame that is not acknowledged for this long is delivered to a dispatcher again. While a frame is in flight, the dispatcher extends this time after each third of it, with a write to the log. A dispatcher that takes over a destination, or reconnects, does not wait for this time',
      60_000,
      { unit: 'ms', minimum: 1_000 },
    ),
  }),
  /** Shortest time between two writes of a health window, in ms; four times as long while nothing is delivered. */
  healthFlushMs: 250,
  hoursKept: activityHoursKept,
  retryWindowMs: fromEnv({
    RETRY_WINDOW_MS: count('How long an event is retried before it becomes a dead letter', 4 * hourMs, {
      unit: 'ms',
      minimum: 1_000,
    }),
  }),
  accessRetry: {
    minMs: fromEnv({
      DISPATCH_ACCESS_RETRY_MIN_MS: count(
        'How long a destination that refuses its key or token is paused before the next attempt; doubles each time, up to 10 minutes',
        60_000,
        { unit: 'ms', minimum: 100, maximum: 600_000 },
      ),
    }),
    maxMs: 600_000,
  },
  /**
   * Limits of the waiting events of one destination with order `visitor`. Once any of them is reached, the destination
   * takes no fresh events until fewer wait.
   */
  order: {
    /** Visitors with an event to be retried. */
    visitorsMax: 100_000,
    /** Events that wait for an earlier event of the same visitor. */
    eventsMax: 200_000,
    /** Half of the destination's quota in the retry log. */
    bytesMax: fromEnv(retryBytes, (env) => env.DISPATCH_RETRY_BYTES_MAX / 2),
  },
  /**
   * Interval at which the retry log is checked for lost heads, in ms. A head is the failed event for which its
   * visitor's other events wait.
   */
  lostHeadsEveryMs: 60_000,
  /** Quotas of the retry log: bytes of one destination, and the fractions of the log for one account and for all. */
  retryQuota: {
    bytesMax: fromEnv(retryBytes),
    account: fromEnv(quotaEnv, (env) => readQuotaSettings(env).account),
    all: fromEnv(quotaEnv, (env) => readQuotaSettings(env).all),
  },
  /**
   * Maximum bytes of the events of one request, with their visitors; a larger event has a request of its own. Building
   * a request occupies its thread for some milliseconds per MiB.
   */
  requestBytesMax: 512 * kibibyte,
  eventWorkMax,
  sender: {
    /**
     * Maximum number of connections of one thread to one scheme, host and port; a destination that has no connection
     * gets one beyond this limit.
     */
    connectionsMax: 256,
    connectTimeoutMs: 3_000,
    /** Time in which a destination must begin to answer, in ms. */
    headersTimeoutMs: 10_000,
    totalTimeoutMs: fromEnv(requestTimeoutEnv, readRequestTimeoutMs),
  },
});

export type DispatcherSettings = ReturnType<typeof readDispatcherSettings>;
