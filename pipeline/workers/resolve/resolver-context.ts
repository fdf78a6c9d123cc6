import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import type { Predecessors } from '../../../shared/nats/messages/predecessors.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { VisitorStore } from '../../../shared/visitors/visitor-store.ts';
import type { Deduplication } from './deduplication.ts';
import type { ResolvePlan } from './resolve-plan.ts';
import type { ResolverSettings } from './resolver-settings.ts';
import type { ResolverCounts } from './resolver-stats.ts';

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
  /** Notes that it is the actor's turn, which each piece of its work begins with: see the thread's black box. */
  beginTurn(): void;
};
