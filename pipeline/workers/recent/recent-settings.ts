import { count } from '../../../shared/runtime/env.ts';

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
  RECENT_EVENTS_PER_S_MAX: count(500),
  RECENT_EVENTS_BURST_MAX: count(10_000),
  RECENT_EVENTS_MAX: count(200_000),
  RECENT_EVENTS_AGE_MS: count(dayMs, 1_000),
  RECENT_EVENTS_BODY_BYTES_MAX: count(16 * 1024, 1024),
};

type RecentEnv = Readonly<Record<keyof typeof recentEnv, number>>;

export function readRecentSettings(env: RecentEnv): RecentSettings {
  return {
    perSecondMax: env.RECENT_EVENTS_PER_S_MAX,
    burstMax: env.RECENT_EVENTS_BURST_MAX,
    eventsMax: env.RECENT_EVENTS_MAX,
    ageMaxMs: env.RECENT_EVENTS_AGE_MS,
    bodyBytesMax: env.RECENT_EVENTS_BODY_BYTES_MAX,
  };
}
