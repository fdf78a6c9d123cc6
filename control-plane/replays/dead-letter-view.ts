import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import type { ListedDeadLetter } from '../../shared/nats/messages/list-dead-letters.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';

const instant = Type.String({ format: 'date-time' });

/** A dead letter as it is answered: which event it is and why it is there, not what the event says. */
export const deadLetterReply = Type.Object({
  seq: Type.Integer({ description: 'Its place in the log.' }),
  event: Type.Object({
    id: Type.String({ description: "The event's own id, its idempotency key at the destination." }),
    name: Type.String(),
    time: Type.Number({ description: 'When it happened, in ms since the epoch.' }),
    visitorId: Type.String({ description: 'The visitor it belonged to then; an alias if that was merged since.' }),
  }),
  reason: Type.String(),
  attempts: Type.Integer({ minimum: 0, description: 'Since it came, or since it was last replayed.' }),
  firstAttemptAt: instant,
  lastAttemptAt: instant,
  request: nullable(
    Type.Object(
      { method: Type.String(), host: Type.String(), status: nullable(Type.Integer()) },
      { description: 'The last request. Null when none could be made; its status is null when there was no answer.' },
    ),
  ),
});

export function viewDeadLetter({ seq, letter }: ListedDeadLetter): JsonObject {
  const { reason, attempts, firstAttemptAt, lastAttemptAt, request } = letter;
  const { event, visitor } = letter.event;
  return {
    seq,
    event: { id: event.id, name: event.event, time: event.time, visitorId: visitor.id },
    reason,
    attempts,
    firstAttemptAt: new Date(firstAttemptAt).toISOString(),
    lastAttemptAt: new Date(lastAttemptAt).toISOString(),
    request: request === undefined ? null : { ...request, status: request.status ?? null },
  };
}
