import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from './destination.ts';

/**
 * The JSON object in a platform's response; undefined if the body is not an object or was
 * truncated.
 */
export function jsonAnswer({ body }: OutboundAnswer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The outcome of a row from the status that the platform returned for the row, classified like the
 * status of a whole response (RFC 9110).
 */
export function outcomeOfStatus(status: number): Outcome {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  const reason = `row status ${status}`;
  if (status === 429) return { kind: 'retry', reason, isThrottled: true };
  if (status === 401 || status === 403) return { kind: 'retry', reason, refusesAccess: true };
  return { kind: status === 408 || status === 425 || status >= 500 ? 'retry' : 'reject', reason };
}

/**
 * Reads 404 and 410 as a missing or disabled topic or queue: a fault of the destination, not of an
 * event. Undefined for any other status.
 */
export function missingTarget(
  { status }: OutboundAnswer,
  events: readonly OutboundEvent[],
): readonly Outcome[] | undefined {
  if (status !== 404 && status !== 410) return undefined;
  return events.map(() => ({ kind: 'retry', reason: `status ${status}`, refusesAccess: true }));
}

const delivered: Outcome = { kind: 'delivered' };
const codeOrField = /^[\w.$[\]-]{1,64}$/;

/**
 * The outcomes of a batch of `count` rows. `refusals` holds the reason of each permanently refused
 * row by index; the other rows are delivered.
 */
export function rowOutcomes(count: number, refusals: ReadonlyMap<number, string>): readonly Outcome[] {
  return Array.from({ length: count }, (_, index): Outcome => {
    const reason = refusals.get(index);
    return reason === undefined ? delivered : { kind: 'reject', reason };
  });
}

/**
 * The reason for a refused row. Keeps only codes and field names from the platform's message,
 * because its sentences may quote the event.
 */
export function rowRefusal(...words: readonly unknown[]): string {
  const kept = words.filter((word) => typeof word === 'string' && codeOrField.test(word));
  return ['row refused', ...kept].join(': ');
}

/** Whether an outcome is a failed attempt. */
export const isFailure = ({ kind }: Outcome): boolean => kind === 'retry' || kind === 'reject';

/**
 * The kind's reading of a response. If the kind reads the body of a response of status 2xx, the status alone does not
 * decide when that body is cut: the missing part may refuse events.
 */
export function readAnswer(
  kind: Pick<PreparedDestination, 'readAnswer'>,
  answer: OutboundAnswer,
  events: readonly OutboundEvent[],
): readonly Outcome[] | undefined {
  if (kind.readAnswer === undefined) return undefined;
  const { status } = answer;
  if (status < 200 || status >= 300 || answer.isCut !== true) return kind.readAnswer(answer, events);
  let isRead = false;
  const noticed: OutboundAnswer = {
    status,
    headers: answer.headers,
    get body() {
      isRead = true;
      return answer.body;
    },
  };
  return kind.readAnswer(noticed, events) ?? (isRead ? events.map(() => cutShort) : undefined);
}

const cutShort: Outcome = { kind: 'retry', reason: 'the response is incomplete', unnamed: 'any' };

/**
 * Whether an answer of status 2xx accepts all events by the kind's own reading, so that the request's
 * follow-up may be sent.
 */
export const acceptsAll =
  (kind: Pick<PreparedDestination, 'readAnswer'>, events: readonly OutboundEvent[]) =>
  (answer: OutboundAnswer): boolean =>
    readAnswer(kind, answer, events)?.some(isFailure) !== true;
