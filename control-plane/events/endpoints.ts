import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { findVisitor } from '../../shared/visitors/find-visitor.ts';
import type { Queryable } from '../../shared/visitors/visitor-statements.ts';
import { found } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { hashedVisitor } from '../audit/record-audit.ts';
import { defineService } from '../api/services.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import type { PolledFeeds } from '../api/polled-feeds.ts';
import { exchangeMembers, exchangeReply, viewExchange } from '../destinations/exchange-view.ts';
import { liveContent, resolveSnapshot } from '../versions/version-store.ts';
import { countByDay } from './count-by-day.ts';
import { decideWays, wayMembers, wayReply } from './decide-ways.ts';
import { eventMembers, eventPosition, eventReply, outcomeNames, planOutcomes, viewEvent } from './event-view.ts';
import { findExchanges, findRecentEvent, listRecentEvents } from './recent-events.ts';

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, description }));

const day = (description: string) => Type.Optional(Type.String({ format: 'date', description }));

/** Names and days in one answer. */
const countsMax = 10_000;

const countsReply = Type.Object({
  counts: Type.Array(
    Type.Object({
      event: Type.String(),
      day: Type.String({ format: 'date' }),
      events: Type.Integer({ minimum: 0 }),
      isSampled: Type.Boolean({ description: 'Whether some of them stand for others that the view left out.' }),
    }),
    { description: `By day and name, at most ${countsMax}.` },
  ),
  isComplete: Type.Boolean({ description: 'Whether that is all of them.' }),
  since: nullable(Type.String({ format: 'date-time', description: 'Nothing received before this is in the view.' })),
  until: Type.String({ format: 'date-time', description: 'When it was counted.' }),
});

/** The newest events of each account. */
export const eventFeeds = defineService<PolledFeeds<string, unknown>>('event feeds');

export const eventEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/events',
    scope: 'event:list',
    id: 'listEvents',
    audits: {
      action: 'event.list',
      entityOf: ({ visitorId }) => (typeof visitorId === 'string' ? hashedVisitor(visitorId) : undefined),
    },
    personal: eventMembers,
    tag: 'Events',
    summary: 'List recent events by their time, newest first, with what became of them at each destination',
    query: Type.Object({
      ...pageQuery,
      sourceId: text('Events of this source only.'),
      event: text('Events of exactly this name only.'),
      visitorId: text("Events of this visitor only, under any of its ids; the visitor's own id or an alias."),
      test: Type.Optional(Type.Boolean({ description: 'Only events sent with a test-mode key, or only the others.' })),
      outcome: Type.Optional(
        Type.Enum([...outcomeNames], { description: 'Events with this outcome at some destination.' }),
      ),
      destinationId: text('Events with an outcome at this destination; with outcome, with that one there.'),
      plan: Type.Optional(
        Type.Enum([...planOutcomes], { description: 'Events of which the tracking plan made this.' }),
      ),
    }),
    reply: pageOf(eventReply),
    async handle({ query, principal }, { pool, paginator }) {
      const { accountId } = principal;
      const { sourceId, event, visitorId, test, outcome, destinationId, plan } = query;
      const given = { sourceId, event, visitorId, test, outcome, destinationId, plan };
      const list = { list: 'events', accountId, filters: given };
      const { limit, after } = paginator.read(query, list);
      const visitorIds = visitorId === undefined ? undefined : await idsOfVisitor(pool, accountId, visitorId);
      const filters = { sourceId, name: event, visitorIds, test, outcome, destinationId, plan };
      const records = await listRecentEvents(pool, accountId, filters, { limit: limit + 1, after });
      return paginator.page(list, limit, records, eventPosition, viewEvent);
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/events/stream',
    scope: 'event:list',
    id: 'followEvents',
    audits: { action: 'event.stream' },
    personal: eventMembers,
    uses: { eventFeeds },
    tag: 'Events',
    summary: 'The newest events by when they came, at most 100, again whenever one comes or more becomes of one',
    streams: true,
    reply: Type.Object({ events: Type.Array(eventReply) }),
    handle: async ({ principal }, { eventFeeds }) => eventFeeds.of(principal.accountId),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/events/counts',
    scope: 'event:list',
    id: 'countEvents',
    tag: 'Events',
    summary: 'How many recent events of each name happened on each day (UTC)',
    query: Type.Object({
      firstDay: day('The first day that counts.'),
      lastDay: day('The last day that counts.'),
      sourceId: text('Events of this source only.'),
      test: Type.Optional(Type.Boolean({ description: 'Only events sent with a test-mode key, or only the others.' })),
    }),
    reply: countsReply,
    async handle({ query, principal }, { pool, now }) {
      const { firstDay, lastDay, sourceId, test } = query;
      const filters = { firstDay, lastDay, sourceId, test };
      const { counts, since } = await countByDay(pool, principal.accountId, filters, countsMax + 1);
      return {
        counts: counts.slice(0, countsMax),
        isComplete: counts.length <= countsMax,
        since: since?.toISOString() ?? null,
        until: now().toISOString(),
      };
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/events/{id}',
    scope: 'event:list',
    id: 'getEvent',
    audits: { action: 'event.read', entity: 'id' },
    personal: eventMembers,
    tag: 'Events',
    summary: 'Read a recent event, with what became of it at each destination',
    reply: eventReply,
    async handle({ params, principal }, { pool }) {
      const record = await found(findRecentEvent(pool, principal.accountId, params.id), 'event');
      return viewEvent(record);
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/events/{id}/exchanges',
    // The request shows the destination's settings.
    scope: 'destination:find',
    id: 'listEventExchanges',
    audits: { action: 'event.read', entity: 'id' },
    personal: exchangeMembers,
    tag: 'Events',
    summary:
      'The last failed request of a recent event at each destination with what the platform answered, secrets masked; the ' +
      'newest 2,000 of an account are kept',
    reply: Type.Object({
      entities: Type.Array(Type.Object({ destinationId: Type.String(), exchange: exchangeReply })),
    }),
    async handle({ params, principal }, { pool }) {
      const { accountId } = principal;
      const record = await found(findRecentEvent(pool, accountId, params.id), 'event');
      const exchanges = await findExchanges(pool, accountId, record);
      const entities = [...exchanges].map(([destinationId, exchange]) => ({
        destinationId,
        exchange: viewExchange(exchange) ?? {},
      }));
      return { entities };
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/events/{id}/ways',
    scope: 'event:list',
    // The request shows the destination's settings.
    queryScope: ({ destinationId }) => (destinationId === undefined ? undefined : 'destination:find'),
    id: 'getEventWays',
    audits: { action: 'event.read', entity: 'id' },
    personal: wayMembers,
    tag: 'Events',
    summary:
      'What the rules say of an event at each destination, and what it would be sent, secrets masked: those that are live ' +
      'now, or those of the draft; nothing is sent',
    query: Type.Object({
      rules: Type.Optional(Type.Enum(['live', 'draft'], { default: 'live', description: 'Whose rules.' })),
      destinationId: text('Of this destination only, with the request it would be sent. Needs `destination:find` too.'),
    }),
    reply: Type.Object({ rules: Type.Enum(['live', 'draft']), ways: Type.Array(wayReply) }),
    async handle({ params, query, principal }, { storage, pool, secretBox, now }) {
      const { accountId } = principal;
      const record = await found(findRecentEvent(pool, accountId, params.id), 'event');
      const em = storage.fork();
      const rules = query.rules ?? 'live';
      const snapshot =
        rules === 'draft' ? await resolveSnapshot(em, accountId, 'draft') : await liveContent(em, accountId);
      const { destinationId } = query;
      return {
        rules,
        ways: decideWays({ accountId, snapshot, record, destinationId, secretBox, nowMs: now().getTime() }),
      };
    },
  }),
];

/** Every id the visitor's events may carry: an event keeps the one its visitor had then. */
async function idsOfVisitor(db: Queryable, accountId: string, id: string): Promise<readonly string[]> {
  const visitor = await findVisitor(db, accountId, { id });
  return visitor === undefined ? [id] : [visitor.id, ...visitor.aliases];
}
