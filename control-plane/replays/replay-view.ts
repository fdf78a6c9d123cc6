import type { Static } from 'typebox';
import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { ReplayJob, ReplayRequest } from '../../shared/contracts/replay-job.ts';
import { replayedEventsMax, shareDone } from '../../shared/contracts/replay-job.ts';
import { badRequest } from '../api/api-error.ts';
import { readTimeRange } from '../api/time-range.ts';
import { commerceOf } from '../../shared/destinations/sdk/commerce.ts';
import { platformErrorOf } from '../../shared/contracts/events/exchange.ts';
import {
  exchangeMembers,
  exchangeReply,
  platformErrorReply,
  viewExchange,
  viewPlatformError,
} from '../destinations/exchange-view.ts';
import type { ListedDeadLetter } from '../../shared/nats/messages/list-dead-letters.ts';

const instant = Type.String({ format: 'date-time' });
const count = (description: string) => Type.Integer({ minimum: 0, description });

/** A replay as the interface returns it. */
export const replayReply = Type.Object({
  id: Type.String(),
  destinationId: Type.String(),
  what: Type.Enum(['dead-letters', 'log']),
  reason: nullable(Type.String()),
  message: nullable(
    Type.String({ description: 'Only dead letters with exactly this message of the platform are replayed.' }),
  ),
  eventIds: nullable(Type.Array(Type.String(), { description: 'Only dead letters of these events are replayed.' })),
  from: nullable(instant),
  to: nullable(instant),
  status: Type.Enum(['waiting', 'running', 'cancelling', 'cancelled', 'done'], {
    description:
      'waiting: for its turn, a pipeline, or its destination to be enabled in the live version. done: every event is queued for ' +
      'the destination.',
  }),
  createdAt: instant,
  updatedAt: instant,
  scanned: count('Messages of the log that were read.'),
  queued: count('Events queued for the destination again.'),
  share: Type.Number({ minimum: 0, maximum: 1, description: 'Fraction of the range that is done.' }),
});

export function viewReplay(job: ReplayJob): JsonObject {
  const { request } = job;
  return {
    id: job.id,
    destinationId: job.destinationId,
    what: request.what,
    reason: request.what === 'log' ? null : (request.reason ?? null),
    message: request.what === 'log' ? null : (request.message ?? null),
    eventIds: request.what === 'log' ? null : (request.eventIds ?? null),
    from: instantOf(request.fromMs),
    to: instantOf(request.toMs),
    status: job.state,
    createdAt: new Date(job.createdAtMs).toISOString(),
    updatedAt: new Date(job.updatedAtMs).toISOString(),
    scanned: job.scanned,
    queued: job.queued,
    share: shareDone(job),
  };
}

function instantOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

/** A time a client gives. */
export const timeField = (description: string) =>
  Type.String({ format: 'date-time', title: 'a time such as 2026-01-31T12:00:00Z', description });

/** The events that a client wants sent again. */
export const replayBody = Type.Object(
  {
    what: Type.Enum(['dead-letters', 'log'], {
      description:
        'dead-letters: events that the destination did not accept; each leaves the dead letters when it is queued for the ' +
        'destination, and returns if it is refused again. log: the events of the account from a range of time, as ' +
        'long as the log keeps them, whatever their outcome; the live version decides what happens to each.',
    }),
    reason: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1_000, description: 'Only dead letters with exactly this reason.' }),
    ),
    message: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1_000,
        description: 'Only dead letters with exactly this message of the platform.',
      }),
    ),
    eventIds: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 400 }), {
        minItems: 1,
        maxItems: replayedEventsMax,
        description: 'Only dead letters of these events.',
      }),
    ),
    from: Type.Optional(
      timeField('Dead letters last tried, or events resolved, at this time or later. Required for the log.'),
    ),
    to: Type.Optional(
      timeField('Dead letters last tried, or events resolved, before this time. Required for the log.'),
    ),
  },
  { additionalProperties: false },
);

/** Translates the body into a request for the pipeline. Throws a 400 that names the field. */
export function readReplayRequest({
  what,
  reason,
  message,
  eventIds,
  ...times
}: Static<typeof replayBody>): ReplayRequest {
  const range = readTimeRange(times);
  const chosen = {
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    ...(eventIds === undefined ? {} : { eventIds }),
  };
  if (what === 'dead-letters') return { what, ...chosen, ...range };
  const [unfit] = Object.keys(chosen);
  if (unfit !== undefined) throw badRequest(`${unfit} is for dead letters only`);
  const { fromMs, toMs } = range;
  if (fromMs === undefined) throw badRequest('from is required for the log');
  if (toMs === undefined) throw badRequest('to is required for the log');
  return { what: 'log', fromMs, toMs };
}

/** A dead letter in a list: the ids of its event and order, and the reason. The event's content is left out. */
export const deadLetterReply = Type.Object({
  seq: Type.Integer({ description: 'Position of the dead letter in the log.' }),
  event: Type.Object({
    id: Type.String({ description: "The event's own id, its idempotency key at the destination." }),
    name: Type.String(),
    time: Type.Number({ description: 'When it happened, in ms since the epoch.' }),
    visitorId: Type.String({ description: 'The visitor it belonged to then; an alias if that was merged since.' }),
    orderId: nullable(Type.String({ description: 'Its order_id or transaction_id; null if it has neither.' })),
  }),
  reason: Type.String(),
  attempts: Type.Integer({
    minimum: 0,
    description: 'Attempts since the event was received, or since it was last replayed.',
  }),
  firstAttemptAt: instant,
  lastAttemptAt: instant,
  request: nullable(
    Type.Object(
      { method: Type.String(), host: Type.String(), status: nullable(Type.Integer()) },
      { description: 'The last request. Null if none could be made; its status is null if there was no answer.' },
    ),
  ),
  error: nullable(platformErrorReply),
});

/** The members of a dead letter that may hold values of a person. */
export const deadLetterMembers = [...exchangeMembers, 'orderId'] as const;

/** One dead letter, with the request that failed. */
export const deadLetterDetailReply = Type.Object({
  ...deadLetterReply.properties,
  exchange: nullable(exchangeReply),
});

export function viewDeadLetterDetail(listed: ListedDeadLetter): JsonObject {
  return { ...viewDeadLetter(listed), exchange: viewExchange(listed.letter.exchange) };
}

export function viewDeadLetter({ seq, letter }: ListedDeadLetter): JsonObject {
  const { reason, attempts, firstAttemptAt, lastAttemptAt, request, exchange } = letter;
  const { event, visitor } = letter.event;
  const { orderId } = commerceOf({ properties: event.event_properties, defaultCurrency: undefined });
  return {
    seq,
    event: { id: event.id, name: event.event, time: event.time, visitorId: visitor.id, orderId: orderId ?? null },
    reason,
    attempts,
    firstAttemptAt: new Date(firstAttemptAt).toISOString(),
    lastAttemptAt: new Date(lastAttemptAt).toISOString(),
    request: request === undefined ? null : { ...request, status: request.status ?? null },
    error: viewPlatformError(exchange && platformErrorOf(exchange)),
  };
}
