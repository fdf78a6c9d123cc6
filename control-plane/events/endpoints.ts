import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { findVisitor } from '../../shared/visitors/find-visitor.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { Queryable } from '../../shared/visitors/visitor-statements.ts';
import { found } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { hashedRoot } from '../audit/record-audit.ts';
import { TextAnswer } from '../api/text-answer.ts';
import { defineService } from '../api/services.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import type { PolledFeeds } from '../api/polled-feeds.ts';
import { exchangeMembers, exchangeReply, viewExchange } from '../destinations/exchange-view.ts';
import { liveValues } from '../health/live-values.ts';
import { logFigures } from '../health/log-figures.ts';
import { viewSending } from '../health/view-sending.ts';
import { whyWaiting } from './why-waiting.ts';
import { liveContent, resolveSnapshot } from '../versions/version-store.ts';
import { countByDay } from './count-by-day.ts';
import { decideWays, maskNames, wayMembers, wayReply } from './decide-ways.ts';
import { eventFilterFields, readEventFilters, searchesProperties } from './event-filters.ts';
import { eventMembers, eventPosition, eventReply, outcomeNames, viewEvent } from './event-view.ts';
import { eventsCsv } from './events-csv.ts';
import { findExchanges, findRecentEvent, listRecentEvents, summarizeEvents } from './recent-events.ts';

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, description }));

/** PostgreSQL has no year 0. */
const day = (description: string) => Type.Optional(Type.String({ format: 'date', pattern: '^(?!0000)', description }));

/** Maximum number of counts in one answer; each is for one name on one day. */
const countsMax = 10_000;

const countsReply = Type.Object({
  counts: Type.Array(
    Type.Object({
      event: Type.String(),
      day: Type.String({ format: 'date' }),
      events: Type.Integer({ minimum: 0 }),
      isSampled: Type.Boolean({
        description: 'Whether the view sampled them: an event then also represents others that the view left out.',
      }),
    }),
    { description: `By day and name, at most ${countsMax}.` },
  ),
  isComplete: Type.Boolean({ description: 'Whether `counts` is complete.' }),
  since: nullable(
    Type.String({ format: 'date-time', description: 'The view contains no event received before this time.' }),
  ),
  until: Type.String({ format: 'date-time', description: 'When the events were counted.' }),
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
      entityOf: async ({ visitorId }, pool, accountId) =>
        typeof visitorId === 'string' ? hashedRoot(pool, accountId, visitorId) : undefined,
    },
    personal: eventMembers,
    tag: 'Events',
    summary: 'List recent events by their time, newest first, with their outcome at each destination',
    comparesPersonal: searchesProperties,
    query: Type.Object({
      ...pageQuery,
      ...eventFilterFields,
      format: Type.Optional(
        Type.Enum(['json', 'csv'], {
          description:
            'csv: text/csv, a row for each outcome; the header x-next-cursor has the cursor of the next page.',
        }),
      ),
    }),
    reply: pageOf(eventReply),
    async handle({ query, principal }, { pool, paginator }) {
      const { accountId } = principal;
      const { limit: _limit, cursor: _cursor, format, ...given } = query;
      const list = { list: 'events', accountId, filters: given };
      const { limit, after } = paginator.read(query, list);
      const filters = readEventFilters(given, await visitorIdsOf(pool, accountId, given.visitorId));
      const records = await listRecentEvents(pool, accountId, filters, { limit: limit + 1, after });
      const page = paginator.page(list, limit, records, eventPosition, viewEvent);
      if (format !== 'csv') return page;
      const { nextCursor } = page.pagination;
      const { destinationId } = given;
      const entities =
        destinationId === undefined ? page.entities : page.entities.map((one) => atDestination(one, destinationId));
      return new TextAnswer('text/csv; charset=utf-8', entities, {
        render: eventsCsv,
        headers: nextCursor === null ? {} : { 'x-next-cursor': nextCursor },
      });
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
    summary: 'The newest events by receipt, at most 100, sent again after each new event or outcome',
    streams: true,
    reply: Type.Object({ events: Type.Array(eventReply) }),
    handle: async ({ principal }, { eventFeeds }) => eventFeeds.of(principal.accountId),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/events/summary',
    scope: 'event:list',
    id: 'summarizeEvents',
    comparesPersonal: searchesProperties,
    personal: eventMembers,
    isCostly: true,
    tag: 'Events',
    summary:
      'How many recent events the filters select, by outcome; since when events are kept, and whether they are a sample',
    query: Type.Object(eventFilterFields),
    reply: Type.Object({
      events: Type.Integer({ minimum: 0, description: 'In a sample, how many events the stored ones represent.' }),
      kept: Type.Integer({ minimum: 0, description: 'How many of them are in the view.' }),
      isSample: Type.Boolean(),
      outcomes: Type.Record(Type.Enum([...outcomeNames]), Type.Integer({ minimum: 0 }), {
        description: 'Events by their outcome at the chosen destination, else outcomes at all destinations.',
      }),
      since: nullable(
        Type.String({ format: 'date-time', description: 'The view contains no event received before this time.' }),
      ),
    }),
    async handle({ query, principal }, { pool }) {
      const { accountId } = principal;
      const filters = readEventFilters(query, await visitorIdsOf(pool, accountId, query.visitorId));
      const { kept, events, outcomes, since } = await summarizeEvents(pool, accountId, filters);
      const counted = outcomeNames.map((name) => [name, outcomes[name] ?? 0] as const);
      return {
        events,
        kept,
        isSample: events > kept,
        outcomes: Object.fromEntries(counted),
        since: since?.toISOString() ?? null,
      };
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/events/counts',
    scope: 'event:list',
    id: 'countEvents',
    tag: 'Events',
    summary: 'How many recent events of each name happened on each day (UTC)',
    query: Type.Object({
      firstDay: day('The first day to count.'),
      lastDay: day('The last day to count.'),
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
    summary: 'Read a recent event, with its outcome at each destination',
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
      "The last failed request of a recent event at each destination with the platform's answer, secrets masked; the " +
      'newest 2,000 of an account are stored',
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
    comparesPersonal: ({ rules }) => rules === 'draft',
    uses: { liveValues, logFigures },
    tag: 'Events',
    summary:
      'What the rules decide about an event at each destination, and the request that would be sent, secrets masked: by the live ' +
      'rules, or by the draft, which needs `pii:read` if the account masks personal data. Nothing is sent',
    query: Type.Object({
      rules: Type.Optional(Type.Enum(['live', 'draft'], { default: 'live', description: 'Whose rules.' })),
      destinationId: text(
        'Only this destination, with the request that would be sent to it. Needs `destination:find` too.',
      ),
    }),
    reply: Type.Object({ rules: Type.Enum(['live', 'draft']), ways: Type.Array(wayReply) }),
    async handle({ params, query, principal, isMasked }, { storage, pool, secretBox, now, liveValues, logFigures }) {
      const { accountId } = principal;
      const record = await found(findRecentEvent(pool, accountId, params.id), 'event');
      const em = storage.fork();
      const rules = query.rules ?? 'live';
      const snapshot =
        rules === 'draft' ? await resolveSnapshot(em, accountId, 'draft') : await liveContent(em, accountId);
      const { destinationId } = query;
      const decided = await decideWays({
        accountId,
        snapshot,
        record,
        destinationId,
        secretBox,
        nowMs: now().getTime(),
      });
      const ways = isMasked ? maskNames(decided, snapshot) : decided;
      if (rules === 'draft') return { rules, ways };
      const known = new Set(record.outcomes.map((outcome) => outcome.destinationId));
      const figures = await logFigures.read().catch(() => undefined);
      const withWaiting = ways.map((way) => {
        const id = way['destinationId'];
        if (way['decision'] !== 'send' || known.has(id)) return way;
        const sending = viewSending(liveValues.healthReports(id));
        return { ...way, waiting: whyWaiting({ sending, backlog: figures?.backlogOf(id) }) };
      });
      return { rules, ways: withWaiting };
    },
  }),
];

/** An event with its outcome at one destination only. */
function atDestination(event: JsonObject, destinationId: string): JsonObject {
  const outcomes = Array.isArray(event['outcomes']) ? event['outcomes'] : [];
  return { ...event, outcomes: outcomes.filter((one: JsonObject) => one['destinationId'] === destinationId) };
}

/**
 * Every id that the visitor's events may have: an event keeps the id that its visitor had when the event was received.
 */
async function visitorIdsOf(
  db: Queryable,
  accountId: string,
  id: string | undefined,
): Promise<readonly string[] | undefined> {
  if (id === undefined) return undefined;
  const visitor = await findVisitor(db, accountId, { id });
  return visitor === undefined ? [id] : [visitor.id, ...visitor.aliases];
}
