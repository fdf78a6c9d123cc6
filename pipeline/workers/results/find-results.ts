import { parseResolved } from '../../../shared/contracts/events/resolved-event.ts';
import type { ResolvedEvent } from '../../../shared/contracts/events/resolved-event.ts';
import { impressionEvent } from '../../../shared/experiments/impression-event.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { ResultsPlan } from './results-plan.ts';
import type { ResultsBatch } from './results-batch.ts';

const lineEnd = 0x0a;
const idShape = /^[A-Za-z0-9_-]{1,64}$/;

/** Finds the events of frames that count for results. Lines that do not name such an event are never parsed. */
export type FindResults = (data: Uint8Array, batch: ResultsBatch) => void;

/** A finder for what a plan counts. Impressions count whatever the plan: one may be of a version not seen here yet. */
export function createFindResults({ metrics }: ResultsPlan): FindResults {
  // As JSON.stringify writes it, and so the resolver. The same text inside of properties is sorted out by parsing.
  const needles = [impressionEvent, ...metrics.keys()].map((name) => Buffer.from(`"event":${JSON.stringify(name)}`));
  return (data, batch) => {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    const starts = new Set<number>();
    for (const needle of needles) {
      for (let at = bytes.indexOf(needle); at >= 0;) {
        starts.add(bytes.lastIndexOf(lineEnd, at) + 1);
        const end = bytes.indexOf(lineEnd, at);
        at = end < 0 ? -1 : bytes.indexOf(needle, end);
      }
    }
    for (const start of starts) {
      const end = bytes.indexOf(lineEnd, start);
      const resolved = parse(bytes.toString('utf8', start, end < 0 ? bytes.length : end));
      if (resolved !== undefined) note(resolved, metrics, batch);
    }
  };
}

function note({ event, visitor }: ResolvedEvent, metrics: ResultsPlan['metrics'], batch: ResultsBatch): void {
  if (event.test) return;
  const who = { visitorId: visitor.id, atMs: event.time };
  if (event.event === impressionEvent) {
    const { experiment_id: experimentId, variant_id: variantId, is_rollout: isRollout } = event.event_properties;
    if (isId(experimentId) && isId(variantId) && isRollout !== true)
      batch.addExposure({ ...who, experimentId, variantId });
  }
  for (const experimentId of metrics.get(event.event) ?? []) {
    batch.addConversion({ ...who, experimentId, metric: event.event });
  }
}

function parse(line: string): ResolvedEvent | undefined {
  try {
    const resolved = parseResolved(line);
    const { event, visitor } = resolved;
    return isJsonObject(event.event_properties) && typeof visitor.id === 'string' ? resolved : undefined;
  } catch {
    return undefined;
  }
}

const isId = (value: unknown): value is string => typeof value === 'string' && idShape.test(value);
