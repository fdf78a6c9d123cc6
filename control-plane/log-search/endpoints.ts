import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { hasSkipped } from '../../shared/contracts/health-record.ts';
import { findVisitor } from '../../shared/visitors/find-visitor.ts';
import type { Queryable } from '../../shared/visitors/visitor-statements.ts';
import { badRequest } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { readTimeRange } from '../api/time-range.ts';
import { hashedRoot } from '../audit/record-audit.ts';
import { platformErrorReply } from '../destinations/exchange-view.ts';
import { outcomeNames } from '../events/event-view.ts';
import { liveValues } from '../health/live-values.ts';
import { liveContent } from '../versions/version-store.ts';
import { logSearches } from './log-searches.ts';
import type { LogMatch } from './match-frame.ts';
import { foundMax } from './search-log.ts';
import { viewFound } from './view-found.ts';

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, description }));
const instant = Type.String({ format: 'date-time' });
const time = (description: string) => Type.Optional({ ...instant, description });

const destination = Type.Object({
  destinationId: Type.String(),
  name: Type.String(),
  outcome: Type.Enum([...outcomeNames, 'waiting', 'notSent', 'unknown'], {
    description:
      'waiting: the dispatcher has not finished this part of the log. unknown: the search did not read far enough, the destination skipped events of this time, or only a replay may have sent the event.',
  }),
  basis: Type.Enum(['recorded', 'log', 'rules'], {
    description:
      'recorded: reported by the dispatcher. log: found among retries, dead letters or waiting events, or older than the destination. rules: neither of these; ' +
      'the live rules decide whether it was sent.',
  }),
  reason: nullable(Type.String()),
  attempts: nullable(Type.Integer({ minimum: 0 })),
  error: nullable(platformErrorReply),
  at: nullable(instant),
});

const report = Type.Object({
  status: Type.Enum(['running', 'done', 'failed', 'refused'], {
    description: 'refused: too many searches are running; see `error`.',
  }),
  error: nullable(Type.String()),
  phase: nullable(Type.Enum(['events', 'retries', 'dead letters'])),
  share: Type.Number({ minimum: 0, maximum: 1, description: 'Progress of this phase.' }),
  messages: Type.Integer({ minimum: 0, description: 'Messages of the log that were read.' }),
  found: Type.Integer({ minimum: 0, maximum: foundMax }),
  isComplete: Type.Boolean({
    description: `Whether all matching events were found: a search ends at ${foundMax} events.`,
  }),
  events: Type.Array(
    Type.Object({
      id: Type.String(),
      event: Type.String(),
      time: Type.Number(),
      receivedAt: instant,
      sourceId: Type.String(),
      visitorId: Type.String(),
      test: Type.Boolean(),
      eventProperties: Type.Record(Type.String(), Type.Unknown()),
      destinations: Type.Array(destination),
    }),
    { description: 'Oldest first, once the search is done.' },
  ),
});

/** Searches the log itself, which has every event: the recent-events view keeps a sample for a day. */
export const logSearchEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/events/search',
    scope: 'event:list',
    id: 'searchLog',
    audits: {
      action: 'event.search',
      entityOf: async ({ visitorId }, pool, accountId) =>
        typeof visitorId === 'string' ? hashedRoot(pool, accountId, visitorId) : undefined,
    },
    personal: ['eventProperties'],
    comparesPersonal: ({ property }) => property !== undefined,
    uses: { liveValues, logSearches },
    tag: 'Events',
    summary:
      'Search every event that the log still has by event id, visitor or property, with the outcome at each destination; ' +
      'reports its progress, and ends when the client disconnects. An account runs one search at a time',
    streams: true,
    query: Type.Object({
      eventId: text('The event with this id.'),
      visitorId: text('Events of this visitor, under any of its ids.'),
      property: text('Events whose property has the value in `value`; `a.b` is the member b of the property a.'),
      value: text('Needs property.'),
      from: time('Events resolved at this time or later.'),
      to: time('Events resolved before this time.'),
    }),
    reply: report,
    async handle({ query, principal }, { pool, storage, secretBox, liveValues, now, logSearches }) {
      const { accountId } = principal;
      const { fromMs, toMs } = readTimeRange(query);
      const match = await readMatch(pool, accountId, query);
      const snapshot = await liveContent(storage.fork(), accountId);
      const skippedAt = (destinationId: string, storedAtMs: number): boolean =>
        liveValues.healthReports(destinationId).some((report) => hasSkipped(report, storedAtMs));
      const asked = { accountId, snapshot, secretBox, nowMs: now().getTime(), skippedAt };
      const destinationIds = snapshot.destinations.map(({ id }) => id);
      return logSearches.of({ accountId, match, fromMs, toMs }, destinationIds, (found) =>
        viewFound(pool, asked, found),
      );
    },
  }),
];

type Given = {
  readonly eventId?: string;
  readonly visitorId?: string;
  readonly property?: string;
  readonly value?: string;
};

async function readMatch(
  db: Queryable,
  accountId: string,
  { eventId, visitorId, property, value }: Given,
): Promise<LogMatch> {
  const given = [eventId, visitorId, property].filter((one) => one !== undefined);
  if (given.length !== 1) throw badRequest('give one of eventId, visitorId and property');
  if ((property === undefined) !== (value === undefined)) throw badRequest('property and value must be given together');
  if (eventId !== undefined) return { by: 'event', id: eventId };
  if (property !== undefined) return { by: 'property', path: property.split('.'), value: value ?? '' };
  const visitor = await findVisitor(db, accountId, { id: visitorId ?? '' });
  return { by: 'visitor', ids: visitor === undefined ? [visitorId ?? ''] : [visitor.id, ...visitor.aliases] };
}
