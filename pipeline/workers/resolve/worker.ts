import { resolverConsumer } from '../../../shared/contracts/subjects.ts';
import type { RecentSettings } from '../recent/recent-settings.ts';
import type { RecorderContext } from '../recent/recorder-context.ts';
import { openRecorder } from '../recent/recorder.ts';
import { consumersByKey, defineWorker } from '../worker/define-worker.ts';
import type { ResolvePlan } from './resolve-plan.ts';
import type { ResolverContext } from './resolver-context.ts';
import type { ResolverSettings } from './resolver-settings.ts';
import {
  resolverAccountCounters,
  resolverAccountGauges,
  resolverCounters,
  resolverGauges,
  resolverNamedCounters,
} from './resolver-context.ts';
import { createWithdrawals } from './withdrawals.ts';
import type { Erasures } from '../../../shared/nats/erasures/follow-erasures.ts';
import type { VisitorStore } from '../../../shared/visitors/visitor-store.ts';
import { createIdentityStore } from './identity-writer.ts';
import { createPersonalDataStore } from './personal-data-writer.ts';
import { createViolationStore } from './write-violations.ts';
import { startResolver } from './resolver.ts';

/** The spec of a resolver; each partition of the log has one. */
export type ResolverSpec = { readonly kind: 'resolver'; readonly partition: number };

type ResolverHost = Pick<ResolverContext, 'connection' | 'costBudget' | 'logger' | 'beginTurn' | 'suspicion'> & {
  readonly visitors: VisitorStore;
  readonly erasures: Erasures;
  readonly pool: RecorderContext['pool'];
  readonly plans: {
    resolvePlan(accountId: string): ResolvePlan | undefined;
    isOnly(accountId: string): boolean;
  };
  readonly settings: {
    readonly resolver: ResolverSettings;
    readonly recent: RecentSettings;
    readonly partitions: number;
  };
};

export const resolverWorker = defineWorker({
  kind: 'resolver',
  keyOf: ({ partition }: ResolverSpec) => String(partition),
  weight: 4,
  wanted: {
    by: 'log',
    specs: (partitions) =>
      Array.from({ length: partitions }, (_, partition): ResolverSpec => ({ kind: 'resolver', partition })),
  },
  consumer: consumersByKey((key) => resolverConsumer(Number(key)), '0'),
  label: 'partition',
  counters: resolverCounters,
  accountCounters: resolverAccountCounters,
  accountGauges: resolverAccountGauges,
  families: {},
  namedCounters: resolverNamedCounters,
  gauges: resolverGauges,
  framesRead: { frames: 'frames', events: 'events' },
  start: ({ partition }: ResolverSpec, { plans, settings, ...host }: ResolverHost) =>
    startResolver({
      partition,
      connection: host.connection,
      visitors: host.visitors,
      costBudget: host.costBudget,
      logger: host.logger,
      plans: (accountId) => plans.resolvePlan(accountId),
      withdrawals: createWithdrawals({ ...host, plans: (accountId) => plans.resolvePlan(accountId) }),
      violationStore: createViolationStore(host.pool),
      identityStore: createIdentityStore(host.pool),
      personalDataStore: createPersonalDataStore(host.pool),
      isOnlyAccount: (accountId) => plans.isOnly(accountId),
      settings: settings.resolver,
      openRecorder: (resolver) =>
        openRecorder({
          ...resolver,
          pool: host.pool,
          partitions: settings.partitions,
          settings: settings.recent.events,
        }),
      suspicion: host.suspicion,
      beginTurn: (frames) => host.beginTurn(frames),
    }),
});
