import { findEventsNamed, markNames } from '../../../shared/contracts/events/search-resolved.ts';
import type { NamedEvent } from '../../../shared/contracts/events/search-resolved.ts';
import { impressionEvent } from '../../../shared/experiments/impression-event.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import { isTime } from '../worker/is-time.ts';
import type { ResultsPlan } from './results-plan.ts';
import type { ResultsBatch } from './results-batch.ts';

/**
 * The event that PostHog's libraries capture when an application reads a flag (posthog.com/docs/experiments). It is an
 * exposure if the flag is the key of an experiment, and its value the name of one of the variants.
 */
const flagCalledEvent = '$feature_flag_called';

const idShape = /^[A-Za-z0-9_-]{1,64}$/;

/** Finds the events in a frame that count for results. Lines without the name of such an event are never parsed. */
export type FindResults = (data: Uint8Array, batch: ResultsBatch) => void;

/**
 * Creates a finder of the events that a plan counts. Impressions always count: their version may be unknown here yet.
 */
export function createFindResults(plan: ResultsPlan): FindResults {
  const marks = markNames([impressionEvent, flagCalledEvent, ...plan.metrics.keys()]);
  return (data, batch) => {
    for (const found of findEventsNamed(data, marks)) {
      if (isJsonObject(found.event.event_properties)) note(found, plan, batch);
    }
  };
}

function note({ event, visitorId }: NamedEvent, { metrics, flags }: ResultsPlan, batch: ResultsBatch): void {
  // A time that no row can hold would fail every write of its batch.
  if (event.test || !isTime(event.time) || !isTime(event.received_at)) return;
  const who = { visitorId, atMs: event.time, receivedAtMs: event.received_at };
  if (event.event === impressionEvent) {
    const { experiment_id: experimentId, variant_id: variantId, is_rollout: isRollout } = event.event_properties;
    if (isId(experimentId) && isId(variantId) && isRollout !== true)
      batch.addExposure({ ...who, experimentId, variantId });
  }
  if (event.event === flagCalledEvent) {
    const { $feature_flag: key, $feature_flag_response: variant } = event.event_properties;
    const experiment = typeof key === 'string' ? flags.get(key) : undefined;
    const variantId = typeof variant === 'string' ? experiment?.variantIds.get(variant) : undefined;
    if (experiment !== undefined && variantId !== undefined)
      batch.addExposure({ ...who, experimentId: experiment.id, variantId });
  }
  for (const experimentId of metrics.get(event.event) ?? []) {
    batch.addConversion({ ...who, experimentId, metric: event.event });
  }
}

const isId = (value: unknown): value is string => typeof value === 'string' && idShape.test(value);
