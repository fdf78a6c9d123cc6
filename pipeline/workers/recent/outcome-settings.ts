import type { RecentSettings } from './recent-settings.ts';
import type { SamplingRate } from './sampling-bucket.ts';

/** Bounds of an outcome recorder; the rate is that of one destination. */
export type OutcomeSettings = SamplingRate & {
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

export const outcomeDefaults: OutcomeSettings = {
  perSecondMax: 1_000,
  burstMax: 20_000,
  flushEveryMs: 250,
  outcomesPerWrite: 1_000,
  waitingMax: 20_000,
  missesMax: 6,
};

/**
 * The rate that goes with the events' own: twice as much, so that under a flood the outcomes looked at are those of
 * more events than are in the view, and hardly one of these is without.
 */
export function outcomeRate({ perSecondMax, burstMax }: RecentSettings): SamplingRate {
  return { perSecondMax: perSecondMax * 2, burstMax: burstMax * 2 };
}
