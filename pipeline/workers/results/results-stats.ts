import { zeros } from '../worker/define-worker.ts';

/** Everything the counter of an account's results counts, by the name `stats()` reports it under. */
export const resultsCounters = {
  events: 'Impressions and conversions of experiments that were found, each visitor once a write',
  changes: 'Those that told something new about a visitor',
  refused: 'Those that were left out because the database does not take them',
  write_retries: 'Times a write of results was retried',
} as const;

/** What it reports that may go down again. */
export const resultsGauges = {
  frames_waiting: 'Frames of the account that wait to be counted',
  lag_seconds: 'How old the last frame taken was',
} as const;

export type ResultsCounter = keyof typeof resultsCounters;
export type ResultsGauge = keyof typeof resultsGauges;
export type ResultsStat = ResultsCounter | ResultsGauge;

/** Counters of one results counter since it started. */
export type ResultsCounts = Record<ResultsCounter, number>;

export const createResultsCounts = (): ResultsCounts => zeros(resultsCounters);
