import { Type } from 'typebox';
import type { Static, TObject } from 'typebox';
import { badRequest } from '../api/api-error.ts';
import { outcomeNames, planOutcomes } from './event-view.ts';
import type { RecentEventFilters } from './recent-events.ts';

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, description }));
const time = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }));

/** The filters of recent events, in the list, its summary and its export. */
export const eventFilterFields = {
  sourceId: text('Events of this source only.'),
  event: text('Events of exactly this name only.'),
  name: text('Events whose name contains this text, in upper or lower case.'),
  visitorId: text("Events of this visitor only, under any of its ids. Takes the visitor's own id or an alias."),
  from: time('Events that happened at this time or later.'),
  to: time('Events that happened before this time.'),
  property: text(
    'Events with this property; `a.b` is the member b of the property a. Needs `pii:read` if the account masks personal data.',
  ),
  value: text('Events whose property has this value. Needs property.'),
  test: Type.Optional(Type.Boolean({ description: 'Only events sent with a test-mode key, or only the others.' })),
  outcome: Type.Optional(
    Type.Enum([...outcomeNames], { description: 'Events with this outcome at some destination.' }),
  ),
  destinationId: text(
    'Events with an outcome at this destination; together with `outcome`: with that outcome at this destination.',
  ),
  plan: Type.Optional(Type.Enum([...planOutcomes], { description: 'Events with this decision of the tracking plan.' })),
};

/** Whether a query filters by properties, whose values may identify a person. */
export const searchesProperties = ({ property }: Readonly<Record<string, unknown>>): boolean => property !== undefined;

export type EventFilterQuery = Static<TObject<typeof eventFilterFields>>;

/** Turns a query into filters. Throws a 400 that names the field. */
export function readEventFilters(
  query: EventFilterQuery,
  visitorIds: readonly string[] | undefined,
): RecentEventFilters {
  const { sourceId, event, name, test, outcome, destinationId, plan, property, value } = query;
  if (value !== undefined && property === undefined) throw badRequest('value needs property');
  const from = readTime('from', query.from);
  const to = readTime('to', query.to);
  if (from !== undefined && to !== undefined && from >= to) throw badRequest('from must be before to');
  const path = property?.split('.');
  return {
    sourceId,
    name: event,
    nameContains: name,
    visitorIds,
    from,
    to,
    property: path === undefined ? undefined : { path, value },
    test,
    outcome,
    destinationId,
    plan,
  };
}

function readTime(name: string, value: string | undefined): Date | undefined {
  if (value === undefined) return undefined;
  const time = new Date(value);
  // A leap second matches the format, but a JavaScript date cannot represent it.
  if (Number.isNaN(time.getTime())) throw badRequest(`${name} must be a time`);
  return time;
}
