import type { Pool } from 'pg';
import type { DurableConsumer } from '../../../shared/nats/consume/consumers.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { recentEventsConsumer, eventsOfAll } from '../../../shared/contracts/subjects.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { RecorderSettings } from './recent-settings.ts';
import type { RecorderCounts } from './recorder-stats.ts';

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
  beginTurn(): void;
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
