import type { ExperimentType } from './experiment-bodies.ts';

/** Name of the event for an assignment to a variant. */
export const impressionEvent = '$experiment_impression';

/** Properties of an impression. A browser library that assigns variants itself may send the same event. */
export type ImpressionProperties = {
  readonly experiment_id: string;
  readonly experiment_key: string;
  readonly experiment_name: string;
  readonly experiment_type: ExperimentType;
  readonly variant_id: string;
  readonly variant_name: string;
  readonly is_control: boolean;
  /** Whether the variant goes to all visitors after completion, so that the impression is not an exposure. */
  readonly is_rollout: boolean;
};
