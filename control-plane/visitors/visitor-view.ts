import { Type } from 'typebox';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { FoundVisitor, VisitorKey } from '../../shared/visitors/visitor-store.ts';
import { findVisitor } from '../../shared/visitors/find-visitor.ts';
import type { Queryable } from '../../shared/visitors/visitor-statements.ts';
import { countRecentEvents } from '../events/recent-events.ts';

const instant = Type.String({ format: 'date-time' });

/** All stored data of a visitor, except events. */
export const visitorReply = Type.Object({
  id: Type.String(),
  properties: Type.Record(Type.String(), Type.Unknown()),
  externalIds: Type.Array(Type.String()),
  emails: Type.Array(Type.String()),
  aliases: Type.Array(Type.String(), {
    description: 'Ids of visitors that were merged into this visitor, at most 1,000.',
  }),
  recentEventCount: Type.Integer({
    minimum: 0,
    description: 'Number of its events in the recent-events view; GET /rest/v1/events?visitorId= lists them.',
  }),
  createdAt: instant,
  updatedAt: instant,
});

/** The members that hold personal data. The id is not among them, because every request about the visitor needs it. */
export const visitorMembers = ['properties', 'externalIds', 'emails'] as const;

function viewVisitor(visitor: FoundVisitor, recentEventCount: number): JsonObject {
  return {
    id: visitor.id,
    properties: visitor.properties,
    externalIds: visitor.externalIds,
    emails: visitor.emails,
    aliases: visitor.aliases,
    recentEventCount,
    createdAt: new Date(visitor.createdAtMs).toISOString(),
    updatedAt: new Date(visitor.updatedAtMs).toISOString(),
  };
}

/**
 * The visitor with an id or an identifier, as the interface shows it; undefined if the account has no such visitor, or
 * it was erased.
 */
export async function exportVisitor(
  db: Queryable,
  accountId: string,
  key: VisitorKey,
): Promise<JsonObject | undefined> {
  const visitor = await findVisitor(db, accountId, key);
  if (visitor === undefined) return undefined;
  return viewVisitor(visitor, await countRecentEvents(db, accountId, [visitor.id, ...visitor.aliases]));
}
