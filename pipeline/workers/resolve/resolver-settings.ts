import { Type } from 'typebox';
import { defineSettings, fromEnv } from '../../../shared/runtime/settings.ts';
import { count, flag } from '../../../shared/runtime/variables.ts';

const kibibyte = 1024;
const mebibyte = 1024 ** 2;
const hourMs = 3_600_000;

export const { variables: resolverEnv, read: readResolverSettings } = defineSettings({
  deduplication: {
    windowMs: fromEnv({
      RESOLVER_DEDUPLICATION_WINDOW_MS: count(
        'How long a repeated event id is recognised. With less than an hour, events may be stored twice after a crash: the ids show which events of a repeated frame are stored',
        24 * hourMs,
        { unit: 'ms', minimum: 0, maximum: 7 * 24 * hourMs },
      ),
    }),
    idsMax: fromEnv({
      RESOLVER_DEDUPLICATION_IDS_MAX: count('Event ids that one partition remembers; about 13 bytes each', 8_000_000, {
        minimum: 1_000,
      }),
    }),
  },
  /** Maximum number of ingest frames taken at a time. */
  framesPerTake: 16,
  takeEveryMs: fromEnv({
    RESOLVER_TAKE_EVERY_MS: count(
      'Minimum time between two readings of frames while fewer than 16 wait; 0: each frame is read as it arrives',
      4,
      { unit: 'ms', minimum: 0 },
    ),
  }),
  /** Maximum number of events that are resolved together, with one query for their visitors. */
  partEventsMax: 1_024,
  accountEventsMax: fromEnv({
    RESOLVER_ACCOUNT_EVENTS_MAX: count(
      'A resolver processes up to 1,024 events together; at most this many belong to one account, so that other accounts of its partition do not wait',
      256,
      { maximum: 1_024 },
    ),
  }),
  /**
   * Maximum number of concurrent transactions that write visitors of one partition. Meanwhile, events of accounts
   * without changed visitors continue.
   */
  writesAtOnceMax: 3,
  /** Maximum number of frames of one partition from the oldest unfinished one on; they are read again after a crash. */
  framesInFlightMax: 1_024,
  waitingBytesMax: fromEnv({
    RESOLVER_WAITING_BYTES_MAX: count(
      'Size of the events of one partition that have been read and wait; while more wait, no further frames are read',
      8 * mebibyte,
      { unit: 'bytes', minimum: mebibyte },
    ),
  }),
  writesVisitorsOnce: fromEnv({
    RESOLVER_VISITORS_ONCE: flag(
      'Whether each visitor is written only once per frame. False while pipelines run that cannot read such frames: see the upgrade page',
      true,
    ),
  }),
  compression: {
    frames: fromEnv({
      RESOLVER_COMPRESSION: Type.Enum(['off', 'grown', 'all'], {
        default: 'grown',
        description:
          'Which frames of EVENTS of 4 KiB or more are compressed. grown: frames over three times the size of their request bodies. all: every frame. off: none, while pipelines run that cannot read compressed frames: see the upgrade page',
      }),
    }),
    frameBytesMin: 4 * kibibyte,
    grownTimes: 3,
  },
  /** Limits the bytes of visitors that are written with the events of an account. */
  visitorRate: {
    perByteSent: fromEnv({
      RESOLVER_VISITOR_SHARE: count(
        "Bytes of visitors over 8 KiB that travel with an account's events for each byte that the account sends. A visitor is written once per frame; beyond this limit it is cut short, but keeps all that the account's live version reads of it",
        2,
        { minimum: 0 },
      ),
    }),
    burstBytes: 256 * kibibyte,
    alwaysBytes: 8 * kibibyte,
  },
  /** A frame of resolved events is closed before it exceeds this many bytes. */
  frameBytesMax: 512 * kibibyte,
  ackWaitMs: fromEnv({
    RESOLVER_ACK_WAIT_MS: count('A frame not acknowledged for this long is delivered to a resolver again', 10_000, {
      unit: 'ms',
      minimum: 1_000,
    }),
  }),
  /** Timeout of each try to publish a message. */
  publishTimeoutMs: 5_000,
  /**
   * Ids of resolved events are written to a checkpoint at this interval, or earlier if they fill `checkpointBytesMax`;
   * each id takes 8 bytes.
   */
  checkpointEveryMs: 10_000,
  checkpointBytesMax: 256 * kibibyte,
  /** Rebuilding deduplication fails if the log sends nothing for this long. */
  rebuildSilenceMaxMs: 30_000,
});

export type ResolverSettings = ReturnType<typeof readResolverSettings>;
