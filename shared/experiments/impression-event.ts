import type { ExperimentType } from './experiment-bodies.ts';

/** Name of the event for an assignment to a variant. */
export const impressionEvent = '$experiment_impression';

/** Properties of that event. A browser library that assigns locally may send the same. */
export type ImpressionProperties = {
  readonly experiment_id: string;
  readonly experiment_key: string;
  readonly experiment_name: string;
  readonly experiment_type: ExperimentType;
  readonly variant_id: string;
  readonly variant_name: string;
  readonly is_control: boolean;
  /** The variant goes to all visitors after completion, so this is not an exposure. */
  readonly is_rollout: boolean;
};
