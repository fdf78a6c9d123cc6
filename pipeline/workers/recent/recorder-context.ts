import type { Pool } from 'pg';
import type { DurableConsumer } from '../../../shared/nats/consume/consumers.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { recentEventsConsumer, eventsOfAll } from '../../../shared/contracts/subjects.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { RecentSettings } from './recent-settings.ts';
import type { RecorderCounts } from './recorder-stats.ts';

export type RecorderSettings = RecentSettings & {
  /** Frames worked on in one go, and as many pulled ahead. */
  readonly framesPerTake: number;
  /** Events written by one statement, at most. */
  readonly eventsPerInsert: number;
  /** A pause between two takes while little comes, so that small frames are written together, in ms. */
  readonly lingerMs: number;
  /** After this long without a word from us the server delivers a frame again, in ms. */
  readonly ackWaitMs: number;
  /** A frame is left out when it is older than this and more frames than that wait behind it. */
  readonly behindMaxMs: number;
  readonly behindFramesMax: number;
  /** Time between two trims, in ms. */
  readonly trimEveryMs: number;
};

/** What the bounds of the view leave open. */
export const recorderDefaults: Omit<RecorderSettings, keyof RecentSettings> = {
  framesPerTake: 32,
  eventsPerInsert: 500,
  lingerMs: 50,
  ackWaitMs: 30_000,
  behindMaxMs: 60_000,
  behindFramesMax: 2_000,
  trimEveryMs: 60_000,
};

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
