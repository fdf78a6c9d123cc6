import type { Pool } from 'pg';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { PlanOutcomes } from './plan-outcomes.ts';
import type { RecorderSettings } from './recent-settings.ts';

/** Everything that a recorder of recent events counts, among the counters of its resolver. */
export const recorderCounters = {
  recent_recorded: 'Events added to the recent-events view',
  recent_not_needed: 'Events that were in the view already, or whose visitor was erased',
  recent_skipped_sampled: 'Events left out of the view because their account sends more than the view accepts',
  recent_skipped_behind: 'Events left out of the view because more arrived than the database could store',
  recent_unreadable: 'Events left out of the view because they could not be read',
  recent_refused: 'Events left out of the view because the database does not accept them',
  recent_insert_retries: 'Times a write to the view was retried',
  recent_caught_up_frames:
    'Frames read again at a start, since the earlier resolver had not recorded that the view has them',
  recent_trimmed: 'Events that left the view for newer ones or for their age',
  recent_trim_failures: 'Times trimming the view failed',
} as const;

/** Gauges of a recorder. */
export const recorderGauges = {
  recent_bytes_waiting: 'Bytes of the frames that wait to be put into the view, or are on their way there',
  recent_lag_seconds: 'How long the oldest frame that waits to be put into the view has waited',
} as const;

export type RecorderGauge = keyof typeof recorderGauges;

/** The parts that the steps of a recorder share. */
export type RecorderContext = {
  readonly partition: number;
  /** Number of partitions of the log: each recorder gets an equal part of an account's rate in the view. */
  readonly partitions: number;
  readonly connection: LogConnection;
  /** Its sessions have `forceIndexScans`. */
  readonly pool: Pool;
  readonly settings: RecorderSettings;
  readonly logger: Logger;
  /** Verdicts of tracking plans. */
  readonly planOutcomes: PlanOutcomes;
  readonly counts: Record<keyof typeof recorderCounters, number>;
  /** Aborted when the recorder must end at once, without writing its waiting records. */
  readonly signal: AbortSignal;
  /** Marks the start of each piece of the recorder's work as the actor's turn: see the thread's black box. */
  beginTurn(): void;
};
