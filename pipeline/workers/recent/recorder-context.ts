import type { FramesAtWork, Suspicion } from '../worker/suspicion.ts';
import type { Pool } from 'pg';
import { zeros } from '../worker/define-worker.ts';
import type { DurableConsumer } from '../../../shared/nats/consume/consumers.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { eventsOfAll, recentEventsConsumer } from '../../../shared/contracts/subjects.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { RecorderSettings } from './recent-settings.ts';

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

type RecorderCounter = keyof typeof recorderCounters;
export type RecorderGauge = keyof typeof recorderGauges;
export type RecorderStat = RecorderCounter | RecorderGauge;

/** Counters of one recorder since it started. */
type RecorderCounts = Record<RecorderCounter, number>;

export const createRecorderCounts = (): RecorderCounts => zeros(recorderCounters);

/** What the steps of the recorder share. */
export type RecorderContext = {
  readonly connection: LogConnection;
  readonly pool: Pool;
  readonly settings: RecorderSettings;
  readonly logger: Logger;
  readonly counts: RecorderCounts;
  /** Aborted when the recorder has to end at once. */
  readonly signal: AbortSignal;
  /** Notes that it is the actor's turn, which each piece of its work begins with: see the thread's black box. */
  beginTurn(frames?: FramesAtWork): void;
  /** What is suspected of its frames since an earlier actor died with its thread. */
  readonly suspicion: Suspicion;
};

/** The recorder's place in the log of resolved events. */
export function recorderConsumer({ ackWaitMs, framesPerTake }: RecorderSettings): DurableConsumer {
  return {
    stream: streams.events,
    name: recentEventsConsumer,
    filterSubject: eventsOfAll,
    startFrom: 'first',
    ackWaitMs,
    ackPendingMax: framesPerTake * 4,
  };
}
