import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { OutboundAnswer, OutboundEvent, Outcome } from './destination.ts';

/** The JSON object a platform answered with; undefined where the body is something else, or was cut. */
export function jsonAnswer({ body }: OutboundAnswer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What became of one row, by the status a platform gave it: the codes of RFC 9110 as for whole answers. */
export function outcomeOfStatus(status: number): Outcome {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  const reason = `row status ${status}`;
  if (status === 429) return { kind: 'retry', reason, isThrottled: true };
  if (status === 401 || status === 403) return { kind: 'retry', reason, refusesAccess: true };
  return { kind: status === 408 || status === 425 || status >= 500 ? 'retry' : 'reject', reason };
}

/** The topic or the queue that every request goes to is missing or disabled: the destination is at fault, and no event. */
export function missingTarget(
  { status }: OutboundAnswer,
  events: readonly OutboundEvent[],
): readonly Outcome[] | undefined {
  if (status !== 404 && status !== 410) return undefined;
  return events.map(() => ({ kind: 'retry', reason: `status ${status}`, refusesAccess: true }));
}

const delivered: Outcome = { kind: 'delivered' };
const codeOrField = /^[\w.$[\]-]{1,64}$/;

/** The outcomes of a batch of which the platform refused some rows for good: why, by their place in the batch. */
export function rowOutcomes(count: number, refusals: ReadonlyMap<number, string>): readonly Outcome[] {
  return Array.from({ length: count }, (_, index): Outcome => {
    const reason = refusals.get(index);
    return reason === undefined ? delivered : { kind: 'reject', reason };
  });
}

/**
 * The reason of a refused row. Of what the platform says only what looks like a code or a field's name is kept: its
 * sentences may quote the event.
 */
export function rowRefusal(...words: readonly unknown[]): string {
  const kept = words.filter((word) => typeof word === 'string' && codeOrField.test(word));
  return ['row refused', ...kept].join(': ');
}
