import { Type } from 'typebox';
import { findVisitor } from '../../shared/visitors/find-visitor.ts';
import type { Queryable } from '../../shared/visitors/visitor-statements.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { eventPosition, eventReply, viewEvent } from './event-view.ts';
import { listRecentEvents } from './recent-events.ts';

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
