import { envelopeHead, envelopeLine, envelopePrefix } from '../../../shared/contracts/events/envelope.ts';
import { partitionOf } from '../../../shared/contracts/events/partition.ts';
import { impressionEvent } from '../../../shared/experiments/impression-event.ts';
import type { ImpressionProperties } from '../../../shared/experiments/impression-event.ts';
import type { ExperimentToken } from '../../../shared/experiments/experiment-tokens.ts';
import type { AssignmentOrigin } from '../../../shared/experiments/assign.ts';
import type { ExperimentVariant } from '../../../shared/experiments/experiment-bodies.ts';
import type { PlannedExperiment } from '../../../shared/experiments/plan-experiment.ts';

/** A visitor was told a variant. */
export type Impression = {
  /** The event's id. */
  readonly id: string;
  readonly accountId: string;
  /** What the caller asked with: a source's key makes it that source's event. */
  readonly token: ExperimentToken;
  readonly visitorId: string;
  readonly atMs: number;
  readonly experiment: PlannedExperiment;
  readonly variant: ExperimentVariant;
  readonly origin: AssignmentOrigin;
  /** The page the visitor sees, where the caller tells it. */
  readonly url: string | undefined;
};

/** The source of events that were asked for with the experiments' own token. */
export const experimentsSource = 'experiments';

/** The impression as a line of a frame, and the partition it belongs to. */
export function encodeImpression(
  { id, accountId, token, visitorId, atMs, experiment, variant, origin, url }: Impression,
  partitions: number,
): { readonly partition: number; readonly line: string } {
  const own = token.kind === 'source' ? token : { sourceId: experimentsSource, test: false };
  const prefix = envelopePrefix({ account: accountId, source: own.sourceId, test: own.test });
  const properties: ImpressionProperties = {
    experiment_id: experiment.id,
    experiment_key: experiment.key,
    experiment_name: experiment.name,
    experiment_type: experiment.type,
    variant_id: variant.id,
    variant_name: variant.name,
    is_control: variant.isControl,
    is_rollout: origin === 'rollout',
  };
  const body = {
    event: impressionEvent,
    userId: visitorId,
    distinctId: id,
    eventProperties: properties,
    ...(url === undefined ? {} : { defaultProperties: { current_url: url } }),
  };
  return {
    partition: partitionOf(accountId, { userId: visitorId, distinctId: id }, partitions),
    line: envelopeLine(envelopeHead(prefix, { kind: 'track', id, at: atMs }), JSON.stringify(body)),
  };
}
