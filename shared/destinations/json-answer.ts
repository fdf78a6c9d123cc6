import { isJsonObject } from '../process/json.ts';
import type { JsonObject } from '../process/json.ts';
import type { OutboundAnswer, Outcome } from './define.ts';

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
  return { kind: status === 408 || status === 425 || status >= 500 ? 'retry' : 'reject', reason };
}
