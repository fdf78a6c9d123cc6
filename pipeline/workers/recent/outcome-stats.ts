import { zeros } from '../worker/define-worker.ts';

/** Everything that an outcome recorder counts, by its name in `stats()`. */
export const outcomeCounters = {
  recorded: 'Outcomes written to the recent-events view',
  dropped_sampled: 'Outcomes left out because their destination or thread had more than the view accepts',
  dropped_full: 'Outcomes left out because too many waited to be written',
  dropped_unknown: 'Outcomes left out because their event did not get into the view',
  exchanges_dropped:
    'Failed requests and their answers that were left out of their outcomes because too many waited to be written',
  refused: 'Outcomes left out because the database does not accept them',
  failed_writes: 'Writes of outcomes that failed and were retried',
} as const;

/** Gauges. */
export const outcomeGauges = { waiting: 'Outcomes that wait to be written' } as const;

export type OutcomeCounter = keyof typeof outcomeCounters;
export type OutcomeGauge = keyof typeof outcomeGauges;

/** Counters of one outcome recorder since its creation. */
export type OutcomeCounts = Record<OutcomeCounter, number>;

/** Counters and gauges of outcomes. */
export type OutcomeStats = Readonly<OutcomeCounts & Record<OutcomeGauge, number>>;

export const createOutcomeCounts = (): OutcomeCounts => zeros(outcomeCounters);
