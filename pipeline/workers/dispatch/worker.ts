import { dispatcherConsumer, retriesOfDestination } from '../../../shared/contracts/subjects.ts';
import { leftPositions } from './lifecycle/left-positions.ts';
import { retirePosition } from './lifecycle/owned-position.ts';
import type { Sender } from '../../../shared/egress/sender.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { consumersByKey, defineWorker } from '../worker/define-worker.ts';
import type { DispatcherOptions } from './dispatcher-context.ts';
import type { DispatchTarget } from './admission/dispatch-target.ts';
import type { DispatcherSettings } from './dispatcher-settings.ts';
import { dispatcherCounters, dispatcherGauges } from './dispatcher-stats.ts';
import { dispatcherNamedCounters } from './settlement/consent-stops.ts';
import { deadLetterReasons } from './settlement/retry-policy.ts';
import type { OutcomeNote } from './settlement/outcome-observer.ts';
import { createRetryPolicy } from './settlement/retry-policy.ts';
import { attemptOutcomes } from './sending/attempt-outcome.ts';
import { startDispatcher } from './dispatcher.ts';
import { dispatchedTo } from './notice-sources.ts';
import { storeFetched } from './store-fetched.ts';

/** Delivers the events of an account to one of its destinations, or follows the notices of one of its sources. */
export type DispatcherSpec = {
  readonly kind: 'dispatcher';
  readonly accountId: string;
  readonly destinationId: string;
  /** When the account's live version was published, in ms since the epoch. */
  readonly publishedAtMs: number;
};

/** The options that `start` makes for one dispatcher; all others are those of its thread. */
type Own =
  | keyof Omit<DispatcherSpec, 'kind'>
  | 'instanceId'
  | 'createSender'
  | 'target'
  | 'retryPolicy'
  | 'noteOutcome'
  | 'settings';

type DispatcherHost = Omit<DispatcherOptions, Own> & {
  createSender(accountId: string): Sender;
  readonly plans: { target(accountId: string, destinationId: string): DispatchTarget | undefined };
  readonly outcomes: { record(note: OutcomeNote): void };
  readonly settings: {
    readonly instanceId: string;
    readonly partitions: number;
    readonly dispatcher: DispatcherSettings;
  };
};

const specOf = (destinationId: string, accountId: string): DispatcherSpec => ({
  kind: 'dispatcher',
  accountId,
  destinationId,
  publishedAtMs: 0,
});

export const dispatcherWorker = defineWorker({
  kind: 'dispatcher',
  keyOf: ({ destinationId }: DispatcherSpec) => destinationId,
  weight: 4,
  wanted: {
    by: 'account',
    specs(config): readonly DispatcherSpec[] {
      const publishedAtMs = Date.parse(config.publishedAt);
      return dispatchedTo(config).map(({ id, accountId }) => ({
        kind: 'dispatcher',
        accountId,
        destinationId: id,
        publishedAtMs,
      }));
    },
    specOf,
    // The destination's dead letters are not removed, since they may be replayed.
    leaves: (destinationId) => [{ stream: streams.retry, subject: retriesOfDestination(destinationId) }],
    forget: retirePosition,
    remembered: async (buckets, isLive) =>
      (await leftPositions(buckets, isLive)).map(({ destinationId, accountId }) => specOf(destinationId, accountId)),
  },
  consumer: consumersByKey(dispatcherConsumer, 'x'),
  label: 'destination_id',
  counters: dispatcherCounters,
  families: {
    attempts: {
      help: `Attempts to deliver an event, by outcome: ${attemptOutcomes.join(', ')}`,
      label: 'outcome',
      values: attemptOutcomes,
    },
    dead_letters: {
      help: `Events put into the dead-letter log, by reason: ${deadLetterReasons.join(', ')}`,
      label: 'reason',
      values: deadLetterReasons,
    },
  },
  namedCounters: dispatcherNamedCounters,
  gauges: dispatcherGauges,
  framesRead: { frames: 'frames', events: 'frame_events' },
  start(
    { accountId, destinationId, publishedAtMs }: DispatcherSpec,
    { plans, outcomes, settings, createSender: senderOf, ...host }: DispatcherHost,
  ) {
    const { partitions, instanceId, dispatcher } = settings;
    const { connection } = host;
    const fetch = plans.target(accountId, destinationId)?.fetch;
    const createSender = (): Sender => {
      const sender = senderOf(accountId);
      if (fetch === undefined) return sender;
      return storeFetched(sender, { fetch, accountId, sourceId: destinationId, partitions, connection });
    };
    return startDispatcher({
      ...host,
      accountId,
      destinationId,
      publishedAtMs,
      instanceId,
      createSender,
      target: () => plans.target(accountId, destinationId),
      retryPolicy: createRetryPolicy(dispatcher.retryWindowMs, dispatcher.accessRetry.minMs),
      noteOutcome: (note) => outcomes.record(note),
      settings: dispatcher,
    });
  },
});
