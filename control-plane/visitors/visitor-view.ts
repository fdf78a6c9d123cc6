import { Type } from 'typebox';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
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
  experiments: Type.Array(
    Type.Object({
      experimentId: Type.String(),
      variantId: nullable(Type.String()),
      assignedAt: nullable(instant),
      exposedAt: nullable(instant),
      convertedAt: nullable(instant),
    }),
    { description: 'Its assignments to experiments and rows in their results, at most 1,000.' },
  ),
  createdAt: instant,
  updatedAt: instant,
});

/** The members that hold personal data. The id is not among them, because every request about the visitor needs it. */
export const visitorMembers = ['properties', 'externalIds', 'emails'] as const;

function viewVisitor(visitor: FoundVisitor, recentEventCount: number, experiments: readonly JsonObject[]): JsonObject {
  return {
    id: visitor.id,
    properties: visitor.properties,
    externalIds: visitor.externalIds,
    emails: visitor.emails,
    aliases: visitor.aliases,
    recentEventCount,
    experiments,
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
  const ids = [visitor.id, ...visitor.aliases];
  const experiments = await experimentsOf(db, accountId, ids, visitor.externalIds);
  return viewVisitor(visitor, await countRecentEvents(db, accountId, ids), experiments);
}

type ExperimentRecord = {
  experiment_id: string;
  variant_id: string | null;
  assigned_at: Date | null;
  exposed_at: Date | null;
  converted_at: Date | null;
};

async function experimentsOf(
  db: Queryable,
  accountId: string,
  ids: readonly string[],
  externalIds: readonly string[],
): Promise<readonly JsonObject[]> {
  const { rows } = await db.query<ExperimentRecord>(experimentsStatement, [accountId, ids, externalIds]);
  return rows.map((row) => ({
    experimentId: row.experiment_id,
    variantId: row.variant_id,
    assignedAt: row.assigned_at?.toISOString() ?? null,
    exposedAt: row.exposed_at?.toISOString() ?? null,
    convertedAt: row.converted_at?.toISOString() ?? null,
  }));
}

// An assignment from before the visitor had an externalId may be stored under it, as in erase-visitor.ts.
const experimentsStatement = `
  with ids (id) as (
    select unnest($2::text[])
    union
    select k.id from unnest($3::text[]) as k (id)
    where not exists (select from visitors v where v.account_id = $1 and v.id = k.id)
  )
  select experiment_id, coalesce(a.variant_id, r.variant_id) as variant_id, assigned_at, exposed_at, converted_at
  from (
    select visitor_id, experiment_id, variant_id, assigned_at from experiment_assignments
    where account_id = $1 and visitor_id in (select id from ids)
  ) a
  full join (
    select visitor_id, experiment_id, variant_id, exposed_at, converted_at from experiment_visitors
    where account_id = $1 and visitor_id in (select id from ids)
  ) r using (visitor_id, experiment_id)
  order by 1, visitor_id limit 1000`;
