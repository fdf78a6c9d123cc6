import type { Static, TObject } from 'typebox';
import { count } from '../../../shared/runtime/variables.ts';
import type { SamplingRate } from './sampling-bucket.ts';

/** How recorders keep the view of recent events; the rate is that of one account, shared by the partitions. */
export type RecorderSettings = SamplingRate & {
  /** Events of one account in the view, at most; some more between two trims. */
  readonly eventsMax: number;
  /** Events leave the view this long after they were received, in ms. */
  readonly ageMaxMs: number;
  /** One event's properties, context and visitor as JSON, in bytes; larger ones lose their largest parts. */
  readonly bodyBytesMax: number;
  /** Events written by one statement, at most. */
  readonly eventsPerInsert: number;
  /** What comes waits so long for company, in ms, unless it fills a statement. */
  readonly lingerMs: number;
  /** What waits for the database keeps frames in memory; over so many bytes of one resolver's more is left out. */
  readonly waitingBytesMax: number;
  /** Frames of the log that a start looks at, for what a crash kept out of the view, at most. */
  readonly caughtUpFramesMax: number;
  /** Time between two trims, in ms. */
  readonly trimEveryMs: number;
};

/** Bounds of an outcome recorder; the rate is that of one destination. */
export type OutcomeSettings = SamplingRate & {
  /** That of all destinations of a thread together. */
  readonly ofThread: SamplingRate;
  /** Time between two writes, in ms. */
  readonly flushEveryMs: number;
  /** Outcomes written by one statement, at most. */
  readonly outcomesPerWrite: number;
  /** Outcomes held in memory, at most; the oldest go first. */
  readonly waitingMax: number;
  /**
   * An outcome is given up when its event was looked for this often, in growing intervals, and was not in the view;
   * sooner while a destination has more outcomes than are noted.
   */
  readonly missesMax: number;
};

/** The recent-events view: its events, and what became of them. */
export type RecentSettings = { readonly events: RecorderSettings; readonly outcomes: OutcomeSettings };

const dayMs = 86_400_000;
/** For how long a thread may note outcomes at its rate at once, after a quiet time, in s. */
const threadBurstS = 20;
const time = { unit: 'ms', minimum: 1 } as const;

/** The view's part of the pipeline's environment. */
export const recentEnv = {
  RECENT_EVENTS_PER_S_MAX: count(
    'Events of one account a second in the view of recent events; of more a sample. One of more than 4 KiB with its visitor counts as several',
    100,
  ),
  RECENT_EVENTS_BURST_MAX: count('Events of one account that are kept at once after a quiet time', 2_000),
  RECENT_EVENTS_MAX: count('Events of one account in the view; some more between two trims', 200_000),
  RECENT_EVENTS_AGE_MS: count('Events leave the view this long after they were received', dayMs, {
    unit: 'ms',
    minimum: 1_000,
  }),
  RECENT_EVENTS_BODY_BYTES_MAX: count(
    "Size of one event's properties, context and visitor as JSON; larger ones lose their largest parts",
    16 * 1024,
    { unit: 'bytes', minimum: 1024 },
  ),
  RECENT_EVENTS_PER_INSERT: count('Events put into the view by one statement', 500, { maximum: 5_000 }),
  RECENT_EVENTS_LINGER_MS: count('How long events wait for others to be put into the view by the same statement', 250, {
    unit: 'ms',
    minimum: 0,
  }),
  RECENT_EVENTS_WAITING_BYTES_MAX: count(
    'Frames of one resolver with events that wait for the view; when the database is slower than that, events are skipped',
    16 * 1024 ** 2,
    { unit: 'bytes', minimum: 64 * 1024 },
  ),
  RECENT_EVENTS_BEHIND_FRAMES_MAX: count(
    'Frames of the log that a start reads for events that a crash kept out of the view',
    2_000,
  ),
  RECENT_EVENTS_TRIM_EVERY_MS: count('How often the view is cut to its bounds', 60_000, { unit: 'ms', minimum: 100 }),
  RECENT_OUTCOMES_FLUSH_MS: count('Time between two writes of what became of events', 250, time),
  RECENT_OUTCOMES_PER_S_MAX: count(
    'Outcomes one thread records a second, of all its destinations together; beyond that a sample. Each costs PostgreSQL some 30 µs',
    500,
  ),
  RECENT_OUTCOMES_PER_WRITE: count('Outcomes written by one statement', 1_000, { maximum: 10_000 }),
  RECENT_OUTCOMES_WAITING_MAX: count('Outcomes one thread holds until they are written; the oldest go first', 20_000),
  RECENT_OUTCOMES_MISSES_MAX: count(
    'How often the event of an outcome is looked up, in growing intervals, before the outcome is dropped',
    6,
    { maximum: 16 },
  ),
};

export function readRecentSettings(env: Static<TObject<typeof recentEnv>>): RecentSettings {
  const rate = { perSecondMax: env.RECENT_EVENTS_PER_S_MAX, burstMax: env.RECENT_EVENTS_BURST_MAX };
  return {
    events: {
      ...rate,
      eventsMax: env.RECENT_EVENTS_MAX,
      ageMaxMs: env.RECENT_EVENTS_AGE_MS,
      bodyBytesMax: env.RECENT_EVENTS_BODY_BYTES_MAX,
      eventsPerInsert: env.RECENT_EVENTS_PER_INSERT,
      lingerMs: env.RECENT_EVENTS_LINGER_MS,
      waitingBytesMax: env.RECENT_EVENTS_WAITING_BYTES_MAX,
      caughtUpFramesMax: env.RECENT_EVENTS_BEHIND_FRAMES_MAX,
      trimEveryMs: env.RECENT_EVENTS_TRIM_EVERY_MS,
    },
    outcomes: {
      ...outcomeRate(rate),
      ofThread: {
        perSecondMax: env.RECENT_OUTCOMES_PER_S_MAX,
        burstMax: env.RECENT_OUTCOMES_PER_S_MAX * threadBurstS,
      },
      flushEveryMs: env.RECENT_OUTCOMES_FLUSH_MS,
      outcomesPerWrite: env.RECENT_OUTCOMES_PER_WRITE,
      waitingMax: env.RECENT_OUTCOMES_WAITING_MAX,
      missesMax: env.RECENT_OUTCOMES_MISSES_MAX,
    },
  };
}

/**
 * The rate that goes with the events' own: twice as much, so that under a flood the outcomes looked at are those of
 * more events than are in the view, and hardly one of these is without.
 */
function outcomeRate({ perSecondMax, burstMax }: SamplingRate): SamplingRate {
  return { perSecondMax: perSecondMax * 2, burstMax: burstMax * 2 };
}
