import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { Position } from '../api/pagination.ts';
import type { RecentEventRecord } from './recent-events.ts';

const instant = Type.String({ format: 'date-time' });
const object = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });

/** What may become of an event at a destination. */
export const outcomeNames = ['delivered', 'retrying', 'rejected', 'stopped', 'globalStop'] as const;

/** An event as the recent-events view shows it. */
export const eventReply = Type.Object({
  id: Type.String({ description: "The event's own id: distinctId, or one the service made." }),
  event: Type.String({ description: "The event's name." }),
  time: Type.Number({ description: 'When it happened, in ms since the epoch. The list is ordered by it.' }),
  receivedAt: instant,
  sourceId: Type.String(),
  visitorId: Type.String({ description: 'The visitor it belonged to then; an alias if that was merged since.' }),
  test: Type.Boolean({ description: 'Sent with a test-mode key: never dispatched.' }),
  versionNumber: nullable(
    Type.Integer({ description: 'The live version it was processed under, where that is known.' }),
  ),
  sampleOf: Type.Integer({
    description: 'How many events this one stands for: more than 1 when the account sent more than the view takes.',
  }),
  eventProperties: object('What the event says.'),
  context: object('Where it came from: page, browser, campaign.'),
  visitor: object('The visitor as it was after this event.'),
  truncated: Type.Boolean({
    description: 'Whether properties were left out since the event is too large for the view.',
  }),
  outcomes: Type.Array(
    Type.Object({
      destinationId: Type.String(),
      outcome: Type.Enum([...outcomeNames]),
      reason: nullable(Type.String()),
      attempts: Type.Integer({ minimum: 0 }),
      versionNumber: nullable(
        Type.Integer({ description: 'The version that decided this outcome: the one that was live at that attempt.' }),
      ),
      at: instant,
    }),
    { description: 'What became of it at each destination so far.' },
  ),
});

export function viewEvent(record: RecentEventRecord): JsonObject {
  const { body } = record;
  return {
    id: record.id,
    event: record.name,
    time: record.time.getTime(),
    receivedAt: record.receivedAt.toISOString(),
    sourceId: record.sourceId,
    visitorId: record.visitorId,
    test: record.test,
    versionNumber: record.versionNumber,
    sampleOf: record.sampleOf,
    eventProperties: objectOf(body['event_properties']),
    context: objectOf(body['context']),
    visitor: objectOf(body['visitor']),
    truncated: body['truncated'] === true,
    outcomes: record.outcomes.map((outcome) => ({ ...outcome, at: new Date(outcome.at).toISOString() })),
  };
}

/** Where an event stands in the list. */
export function eventPosition(record: RecentEventRecord): Position {
  return [record.time.getTime(), record.id, record.origin];
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
