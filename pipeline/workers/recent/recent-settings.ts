import { defineSettings, fromEnv } from '../../../shared/runtime/settings.ts';
import { count } from '../../../shared/runtime/variables.ts';

const dayMs = 86_400_000;
/** After a quiet time, the events and outcomes of this many seconds may be recorded at once. */
const burstS = 20;

const eventsPerS = {
  RECENT_EVENTS_PER_S_MAX: count(
    'Events of one account per second in the recent-events view, and 20 times as many at once after a quiet time; if there are more, a sample of them is shown. A thread records five times as many outcomes. An event of over 4 KiB with its visitor counts as several',
    100,
  ),
};

/** Settings of the recent-events view: of the events, and of their outcomes at destinations. */
export const { variables: recentEnv, read: readRecentSettings } = defineSettings({
  /** The rate is for one account; its partitions share it. */
  events: {
    perSecondMax: fromEnv(eventsPerS),
    burstMax: fromEnv(eventsPerS, (env) => env.RECENT_EVENTS_PER_S_MAX * burstS),
    eventsMax: fromEnv({
      RECENT_EVENTS_MAX: count('Events of one account in the recent-events view; some more between two trims', 200_000),
    }),
    ageMaxMs: fromEnv({
      RECENT_EVENTS_AGE_MS: count('Events leave the recent-events view this long after they were received', dayMs, {
        unit: 'ms',
        minimum: 1_000,
      }),
    }),
    /** Size of one event's properties, context and visitor as JSON, in bytes; larger ones lose their largest parts. */
    bodyBytesMax: 16 * 1024,
    eventsPerInsert: 500,
    /** How long events wait, in ms, so that later events fill the same insert. */
    lingerMs: 500,
    /** Maximum bytes of one resolver's frames that wait for the database; beyond it events are left out of the view. */
    waitingBytesMax: 16 * 1024 ** 2,
    /** Maximum number of frames that a recorder reads from the log at its start, for events missing after a crash. */
    caughtUpFramesMax: 2_000,
    /** Maximum number of an account's failed requests, with answers, in the view: the newest, of up to 12 KiB each. */
    exchangesMax: 2_000,
    trimEveryMs: 60_000,
  },
  outcomes: {
    /** Twice the rate of events, so that in a flood few events in the view lack their outcomes. */
    perSecondMax: fromEnv(eventsPerS, (env) => env.RECENT_EVENTS_PER_S_MAX * 2),
    burstMax: fromEnv(eventsPerS, (env) => env.RECENT_EVENTS_PER_S_MAX * 2 * burstS),
    /** Limit of a thread's destinations together; beyond it only a sample. PostgreSQL needs about 30 µs per outcome. */
    ofThread: {
      perSecondMax: fromEnv(eventsPerS, (env) => env.RECENT_EVENTS_PER_S_MAX * 5),
      burstMax: fromEnv(eventsPerS, (env) => env.RECENT_EVENTS_PER_S_MAX * 5 * burstS),
    },
    flushEveryMs: 500,
    outcomesPerWrite: 1_000,
    /** Maximum number of outcomes that wait in memory; beyond that, the oldest are dropped. */
    waitingMax: 20_000,
    /** While more outcomes than this wait, failed requests and their answers are left out: each takes up to 12 KiB. */
    exchangesWaitingMax: 2_000,
    /**
     * How often the event of an outcome is looked up, at growing intervals, before the outcome is dropped; less often
     * while a destination has more outcomes than are recorded.
     */
    missesMax: 6,
  },
});

export type RecentSettings = ReturnType<typeof readRecentSettings>;
export type RecorderSettings = RecentSettings['events'];
export type OutcomeSettings = RecentSettings['outcomes'];
