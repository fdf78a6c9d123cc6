import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import type { Predecessors } from '../../../shared/nats/messages/predecessors.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { VisitorStore } from '../../../shared/visitors/visitor-store.ts';
import type { Deduplication, DeduplicationSettings } from './deduplication.ts';
import type { ResolvePlan } from './resolve-plan.ts';
import type { ResolverCounts } from './resolver-stats.ts';

export type ResolverSettings = {
  readonly deduplication: DeduplicationSettings;
  /** Ingest frames worked on in one go, at most. */
  readonly framesPerTake: number;
  /** Least time from one take to the next while fewer frames than that wait, in ms. */
  readonly takeEveryMs: number;
  /** A frame of resolved events is closed before it grows over this. */
  readonly frameBytesMax: number;
  /** After this long without a word from us the server delivers a frame again, in ms. */
  readonly ackWaitMs: number;
  /** How long one try of a publish may take, in ms. */
  readonly publishTimeoutMs: number;
  /** Ids of what was resolved are written down this often, in ms, and when they have become so many bytes. */
  readonly checkpointEveryMs: number;
  readonly checkpointBytesMax: number;
  /** Rebuilding deduplication gives up when the log sends nothing for this long, in ms. */
  readonly rebuildSilenceMaxMs: number;
};

export const resolverDefaults: ResolverSettings = {
  deduplication: { windowMs: 24 * 3_600_000, idsMax: 8_000_000 },
  framesPerTake: 16,
  takeEveryMs: 4,
  frameBytesMax: 512 * 1024,
  ackWaitMs: 30_000,
  publishTimeoutMs: 5_000,
  checkpointEveryMs: 10_000,
  checkpointBytesMax: 256 * 1024,
  rebuildSilenceMaxMs: 30_000,
};

/** What the steps of one resolver share. */
export type ResolverContext = {
  readonly partition: number;
  readonly connection: LogConnection;
  readonly visitors: VisitorStore;
  readonly plans: (accountId: string) => ResolvePlan | undefined;
  readonly settings: ResolverSettings;
  readonly logger: Logger;
  readonly deduplication: Deduplication;
  readonly predecessors: Predecessors;
  readonly counts: ResolverCounts;
  /** Aborted when the resolver has to end at once. */
  readonly signal: AbortSignal;
};
