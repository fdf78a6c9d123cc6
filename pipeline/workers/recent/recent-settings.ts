import type { Static, TObject } from 'typebox';
import { count } from '../../../shared/runtime/variables.ts';

/** Bounds of the recent-events view. */
export type RecentSettings = {
  /** Events of one account that are kept a second, and at once after a quiet time; of more a sample is. */
  readonly perSecondMax: number;
  readonly burstMax: number;
  /** Events of one account in the view, at most; some more between two trims. */
  readonly eventsMax: number;
  /** Events leave the view this long after they were received, in ms. */
  readonly ageMaxMs: number;
  /** One event's properties, context and visitor as JSON, in bytes; larger ones lose their largest parts. */
  readonly bodyBytesMax: number;
};

const dayMs = 86_400_000;

/** The view's part of the pipeline's environment. */
export const recentEnv = {
  RECENT_EVENTS_PER_S_MAX: count('Events of one account a second in the view of recent events; of more a sample', 500),
  RECENT_EVENTS_BURST_MAX: count('Events of one account that are kept at once after a quiet time', 10_000),
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
};

export function readRecentSettings(env: Static<TObject<typeof recentEnv>>): RecentSettings {
  return {
    perSecondMax: env.RECENT_EVENTS_PER_S_MAX,
    burstMax: env.RECENT_EVENTS_BURST_MAX,
    eventsMax: env.RECENT_EVENTS_MAX,
    ageMaxMs: env.RECENT_EVENTS_AGE_MS,
    bodyBytesMax: env.RECENT_EVENTS_BODY_BYTES_MAX,
  };
}
