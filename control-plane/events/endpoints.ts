import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import type { Position } from '../api/pagination.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import type { RecentEventRecord } from './recent-events.ts';
import { listRecentEvents } from './recent-events.ts';
import { findVisitor } from '../../shared/visitors/find-visitor.ts';
import type { Queryable } from '../../shared/visitors/visitor-statements.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';

const instant = Type.String({ format: 'date-time' });
const object = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });

/** An event as the recent-events view shows it. */
const eventReply = Type.Object({
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
      outcome: Type.Enum(['delivered', 'retrying', 'rejected', 'stopped', 'globalStop']),
      reason: nullable(Type.String()),
      attempts: Type.Integer({ minimum: 0 }),
      at: instant,
    }),
    { description: 'What became of it at each destination so far.' },
  ),
});

function viewEvent(record: RecentEventRecord): JsonObject {
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
function eventPosition(record: RecentEventRecord): Position {
  return [record.time.getTime(), record.id];
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, description }));

export const eventEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/events',
    scope: 'event:list',
    id: 'listEvents',
    tag: 'Events',
    summary: 'List recent events by their time, newest first, with what became of them at each destination',
    query: Type.Object({
      ...pageQuery,
      sourceId: text('Events of this source only.'),
      event: text('Events of exactly this name only.'),
      visitorId: text("Events of this visitor only, under any of its ids; the visitor's own id or an alias."),
      test: Type.Optional(Type.Boolean({ description: 'Only events sent with a test-mode key, or only the others.' })),
    }),
    reply: pageOf(eventReply),
    async handle({ query, principal }, { pool, paginator }) {
      const { accountId } = principal;
      const { sourceId, event, visitorId, test } = query;
      const list = { list: 'events', accountId, filters: { sourceId, event, visitorId, test } };
      const { limit, after } = paginator.read(query, list);
      const visitorIds = visitorId === undefined ? undefined : await idsOfVisitor(pool, accountId, visitorId);
      const filters = { sourceId, name: event, visitorIds, test };
      const records = await listRecentEvents(pool, accountId, filters, { limit: limit + 1, after });
      return paginator.page(list, limit, records, eventPosition, viewEvent);
    },
  }),
];

/** Every id the visitor's events may carry: an event keeps the one its visitor had then. */
async function idsOfVisitor(db: Queryable, accountId: string, id: string): Promise<readonly string[]> {
  const visitor = await findVisitor(db, accountId, { id });
  return visitor === undefined ? [id] : [visitor.id, ...visitor.aliases];
}
