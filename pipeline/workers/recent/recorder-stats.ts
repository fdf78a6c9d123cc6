import { zeros } from '../worker/define-worker.ts';

/** Everything the recorder of recent events counts, by the name `stats()` reports it under. */
export const recorderCounters = {
  recorded: 'Events added to the recent-events view',
  not_needed: 'Events that were in the view already, or whose visitor was erased',
  skipped_sampled: 'Events left out of the view because their account sends more than it takes',
  skipped_behind: 'Events left out of the view because its recorder was too far behind',
  unreadable: 'Events left out of the view because they could not be read',
  refused: 'Events left out of the view because the database does not take them',
  insert_retries: 'Times a write to the view was tried again',
  trimmed: 'Events that left the view for newer ones or for their age',
  trim_failures: 'Times trimming the view failed',
} as const;

/** What the recorder reports that may go down again. */
export const recorderGauges = {
  frames_waiting: 'Frames that waited behind the last one taken',
  lag_seconds: 'How old the last frame taken was',
} as const;

export type RecorderCounter = keyof typeof recorderCounters;
export type RecorderGauge = keyof typeof recorderGauges;
export type RecorderStat = RecorderCounter | RecorderGauge;

/** Counters of one recorder since it started. */
export type RecorderCounts = Record<RecorderCounter, number>;

export const createRecorderCounts = (): RecorderCounts => zeros(recorderCounters);
