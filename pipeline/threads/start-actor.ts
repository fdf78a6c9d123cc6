import type { Logger } from '../../shared/runtime/logger.ts';
import { startDispatcher } from '../workers/dispatch/dispatcher.ts';
import { createRetryPolicy } from '../workers/dispatch/retry/retry-policy.ts';
import { recorderDefaults } from '../workers/recent/recorder-context.ts';
import { startRecentEventsRecorder } from '../workers/recent/recorder.ts';
import { startResolver } from '../workers/resolve/resolver.ts';
import { resultsDefaults } from '../workers/results/results-context.ts';
import { startResultsCounter } from '../workers/results/results-counter.ts';
import type { Actor } from '../workers/actor.ts';
import type { HostResources } from './host-resources.ts';
import type { HostSettings } from './host-settings.ts';
import type { ActorSpec } from './messages.ts';

/** What a host may tell an actor while it runs. */
export type HostedActor = Actor & {
  /** The configuration of its account changed. */
  reconfigured?(): void;
  /** A tier of its retry log holds something. */
  retriesStored?(tier: number): void;
};

export type StartActorOptions = {
  readonly resources: HostResources;
  readonly settings: HostSettings;
  readonly logger: Logger;
  /** Called whenever the actor looks at its plan, which every piece of its work begins with. */
  onTurn(): void;
};

/** Starts the actor a spec describes. */
export function startActor(
  spec: ActorSpec,
  { resources, settings, logger, onTurn }: StartActorOptions,
): Promise<HostedActor> {
  const { connection, plans } = resources;
  switch (spec.kind) {
    case 'resolver':
      return startResolver({
        partition: spec.partition,
        connection,
        visitors: resources.visitors,
        plans: (accountId) => {
          onTurn();
          return plans.resolvePlan(accountId);
        },
        settings: settings.resolver,
        logger,
      });
    case 'recorder':
      return startRecentEventsRecorder({
        connection,
        pool: resources.pool,
        settings: { ...recorderDefaults, ...settings.recent },
        logger,
      });
    case 'results': {
      const { accountId, publishedAtMs } = spec;
      return startResultsCounter({
        accountId,
        publishedAtMs,
        connection,
        pool: resources.pool,
        settings: resultsDefaults,
        logger,
        plan: () => {
          onTurn();
          return plans.resultsPlan(accountId);
        },
      });
    }
    case 'dispatcher': {
      const { accountId, destinationId, publishedAtMs } = spec;
      return startDispatcher({
        accountId,
        destinationId,
        publishedAtMs,
        instanceId: settings.instanceId,
        connection,
        health: resources.health,
        target: () => {
          onTurn();
          return plans.target(accountId, destinationId);
        },
        createSender: (connectionsMax) => resources.createSender(connectionsMax),
        retryPolicy: createRetryPolicy(settings.dispatcher.retryWindowMs),
        sourceActivity: resources.sourceActivity,
        timings: resources.timings,
        noteOutcome: (note) => resources.outcomes.record(note),
        settings: settings.dispatcher,
        logger,
      });
    }
  }
}
