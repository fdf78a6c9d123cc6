import type { Static, TObject } from 'typebox';
import { Type } from 'typebox';
import { count, flag } from '../../../shared/runtime/variables.ts';
import type { CrowdPaceSettings } from '../../../shared/runtime/crowd-pace.ts';
import type { DeduplicationSettings } from './deduplication.ts';
import type { Compression } from './outgoing-frames.ts';
import type { VisitorRate } from './visitor-rate-limit.ts';

export type ResolverSettings = {
  readonly deduplication: DeduplicationSettings;
  /** Ingest frames taken at a time, at most. */
  readonly framesPerTake: number;
  /** Time from one take to the next while fewer frames than that wait. */
  readonly takes: CrowdPaceSettings;
  /** Events that are resolved together, at most. */
  readonly partEventsMax: number;
  /** Of these, events of one account. */
  readonly accountEventsMax: number;
  /** Parts whose visitors are written at once; with so many nothing more is resolved before one is done. */
  readonly writesAtOnceMax: number;
  /** Frames that were taken and are not finished, at most. */
  readonly framesInFlightMax: number;
  /** With so much that was read and waits for its turn no more frames are taken, in bytes. */
  readonly waitingBytesMax: number;
  /** Whether a visitor stands in a frame once, and not in each line. */
  readonly writesVisitorsOnce: boolean;
  readonly compression: Compression;
  /** What of their visitors may travel with the events of an account. */
  readonly visitorRate: VisitorRate;
  /** A frame of resolved events is closed before it grows over this. */
  readonly frameBytesMax: number;
  /** After this long without a word from us the server delivers a frame again, in ms. */
  readonly ackWaitMs: number;
  /** How long one try of a publish may take, in ms. */
  readonly publishTimeoutMs: number;
  /** Ids of what was resolved are written down this often, in ms, and when they have become so many bytes. */
  readonly checkpointEveryMs: number;
  readonly checkpointBytesMax: number;
  /** Rebuilding deduplication gives up when the log sends nothing for this long, in ms. */
  readonly rebuildSilenceMaxMs: number;
};

const kibibyte = 1024;
const mebibyte = 1024 ** 2;
const hourMs = 3_600_000;

/** Ordinary profiles travel whole, whatever their account sends. */
const visitorAlwaysBytesMin = 8 * kibibyte;

/** The resolvers' part of the pipeline's environment. */
export const resolverEnv = {
  RESOLVER_DEDUPLICATION_WINDOW_MS: count('How long a repeated event id is recognised', 24 * hourMs, {
    unit: 'ms',
    minimum: 0,
    maximum: 7 * 24 * hourMs,
  }),
  RESOLVER_DEDUPLICATION_IDS_MAX: count('Event ids that one partition remembers; about 13 bytes each', 8_000_000, {
    minimum: 1_000,
  }),
  RESOLVER_CHECKPOINT_EVERY_MS: count(
    'How often a resolver writes down the ids it remembers. A start reads these, and of the log only what came after',
    10_000,
    { unit: 'ms', minimum: 100 },
  ),
  RESOLVER_CHECKPOINT_BYTES_MAX: count(
    'Ids are written down sooner when they are this many bytes: 8 an event',
    256 * kibibyte,
    {
      unit: 'bytes',
      minimum: kibibyte,
      maximum: mebibyte / 2,
    },
  ),
  RESOLVER_FRAMES_PER_TAKE: count('Frames a resolver takes at a time', 16),
  RESOLVER_TAKE_EVERY_MS: count('Least time between two takes that are not full; 0 takes each frame as it arrives', 4, {
    unit: 'ms',
    minimum: 0,
  }),
  RESOLVER_TAKE_CROWDED_MS: count(
    "The same where the resolver's thread waits for a processor for more than half of the time in which it could run. RESOLVER_TAKE_EVERY_MS or less for no difference",
    12,
    { unit: 'ms', minimum: 0 },
  ),
  RESOLVER_PART_EVENTS_MAX: count(
    'Events that a resolver works on in one go, with one query for their visitors',
    1_024,
  ),
  RESOLVER_ACCOUNT_EVENTS_MAX: count(
    'Of these, events of one account: the other accounts of its partition go between',
    256,
  ),
  RESOLVER_WRITES_MAX: count(
    'Transactions with visitors of one partition at a time. Events of accounts that have none to write go on beside them, up to this many',
    3,
  ),
  RESOLVER_FRAMES_IN_FLIGHT_MAX: count(
    'Unfinished frames of one partition. A quiet account is found behind this many frames of another account. All of them are read again after a crash',
    1_024,
    { minimum: 64 },
  ),
  RESOLVER_WAITING_BYTES_MAX: count(
    'Events of one partition that are read and wait for their turn; beyond this no more frames are taken',
    8 * mebibyte,
    { unit: 'bytes', minimum: mebibyte },
  ),
  RESOLVER_VISITORS_ONCE: flag(
    'A visitor is written once a frame. Off as long as pipelines run that cannot read that: see the upgrade page',
    true,
  ),
  RESOLVER_COMPRESSION: Type.Enum(['off', 'grown', 'all'], {
    default: 'grown',
    description:
      'Frames of EVENTS of 4 KiB or more that are compressed: those over three times what was sent for them, or all. `off` as long as pipelines run that cannot read that: see the upgrade page',
  }),
  RESOLVER_VISITOR_SHARE: count(
    "Bytes of visitors over RESOLVER_VISITOR_ALWAYS_BYTES that travel with an account's events for each byte it sends. A visitor is written once a frame; past this, it travels cut short, with all that the account's live version reads of it",
    2,
    { minimum: 0 },
  ),
  RESOLVER_VISITOR_BURST_BYTES: count(
    'What an account may have travel on top of that at once, of one partition',
    256 * kibibyte,
    { unit: 'bytes' },
  ),
  RESOLVER_VISITOR_ALWAYS_BYTES: count(
    'A visitor of this size is never cut short. Less than 8,192 counts as 8,192',
    visitorAlwaysBytesMin,
    { unit: 'bytes', minimum: 256 },
  ),
  RESOLVER_ACK_WAIT_MS: count('A frame not acknowledged for this long is given to a resolver again', 10_000, {
    unit: 'ms',
    minimum: 1_000,
  }),
};

export function readResolverSettings(env: Static<TObject<typeof resolverEnv>>): ResolverSettings {
  return {
    deduplication: {
      windowMs: env.RESOLVER_DEDUPLICATION_WINDOW_MS,
      idsMax: env.RESOLVER_DEDUPLICATION_IDS_MAX,
    },
    framesPerTake: env.RESOLVER_FRAMES_PER_TAKE,
    takes: { usualMs: env.RESOLVER_TAKE_EVERY_MS, crowdedMs: env.RESOLVER_TAKE_CROWDED_MS },
    partEventsMax: env.RESOLVER_PART_EVENTS_MAX,
    accountEventsMax: env.RESOLVER_ACCOUNT_EVENTS_MAX,
    writesAtOnceMax: env.RESOLVER_WRITES_MAX,
    framesInFlightMax: env.RESOLVER_FRAMES_IN_FLIGHT_MAX,
    waitingBytesMax: env.RESOLVER_WAITING_BYTES_MAX,
    writesVisitorsOnce: env.RESOLVER_VISITORS_ONCE,
    compression: { frames: env.RESOLVER_COMPRESSION, frameBytesMin: 4 * kibibyte, grownTimes: 3 },
    visitorRate: {
      perByteSent: env.RESOLVER_VISITOR_SHARE,
      burstBytes: env.RESOLVER_VISITOR_BURST_BYTES,
      alwaysBytes: Math.max(visitorAlwaysBytesMin, env.RESOLVER_VISITOR_ALWAYS_BYTES),
    },
    frameBytesMax: 512 * kibibyte,
    ackWaitMs: env.RESOLVER_ACK_WAIT_MS,
    publishTimeoutMs: 5_000,
    checkpointEveryMs: env.RESOLVER_CHECKPOINT_EVERY_MS,
    checkpointBytesMax: env.RESOLVER_CHECKPOINT_BYTES_MAX,
    rebuildSilenceMaxMs: 30_000,
  };
}
