import type { FramesAtWork, Suspicion } from '../worker/suspicion.ts';
import type { Pool } from 'pg';
import { zeros } from '../worker/define-worker.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import type { DurableConsumer, StartFrom } from '../../../shared/nats/consume/consumers.ts';
import { eventsOfAccount, resultsConsumer } from '../../../shared/contracts/subjects.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { ResultsPlan } from './results-plan.ts';
import type { ResultsSettings } from './results-settings.ts';

/** The counters of an actor that counts results, by the names that `stats()` reports, with their meanings. */
export const resultsCounters = {
  events: 'Impressions and conversions found, at most one of each per visitor, experiment and write',
  changes: 'Impressions and conversions that changed the stored result of a visitor',
  refused: 'Results that were left out because the database does not accept them',
  write_retries: 'Times a write of results was retried',
} as const;

/** Gauges of an actor that counts results. */
export const resultsGauges = {
  frames_waiting: 'Frames of the account that wait to be counted',
  lag_seconds: 'Age of the last frame when it was received',
} as const;

type ResultsCounter = keyof typeof resultsCounters;
export type ResultsGauge = keyof typeof resultsGauges;
export type ResultsStat = ResultsCounter | ResultsGauge;

/** Counters of one results counter since it started. */
type ResultsCounts = Record<ResultsCounter, number>;

export const createResultsCounts = (): ResultsCounts => zeros(resultsCounters);

/** What the steps of counting an account's results share. */
export type ResultsContext = {
  readonly accountId: string;
  /** When the account's live version was published, in ms since the epoch: a new consumer starts at that time. */
  readonly publishedAtMs: number;
  readonly connection: LogConnection;
  readonly pool: Pool;
  readonly settings: ResultsSettings;
  readonly logger: Logger;
  readonly counts: ResultsCounts;
  /** Aborted when counting has to end at once. */
  readonly signal: AbortSignal;
  /** The experiments to count at present. */
  plan(): ResultsPlan | undefined;
  /** Records in the thread's black box that a turn of this actor begins. Called before each piece of work. */
  beginTurn(frames?: FramesAtWork): void;
  /** Frames that are suspected because a thread died while it worked on them. */
  readonly suspicion: Suspicion;
};

/** The consumer of the account's resolved events. */
export function accountConsumer(
  { accountId, settings }: Pick<ResultsContext, 'accountId' | 'settings'>,
  startFrom: StartFrom,
): DurableConsumer {
  return {
    stream: streams.events,
    name: resultsConsumer(accountId),
    filterSubject: eventsOfAccount(accountId),
    startFrom,
    ackWaitMs: settings.ackWaitMs,
    ackPendingMax: settings.framesPerTake * 4,
  };
}
