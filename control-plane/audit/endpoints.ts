import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { clusterOf, findRoot } from '../../shared/visitors/find-visitor.ts';
import type { Queryable } from '../../shared/visitors/visitor-statements.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { readTimeRange } from '../api/time-range.ts';
import { listAudit } from './record-audit.ts';

const entry = Type.Object({
  id: Type.String(),
  at: Type.String({ format: 'date-time' }),
  actorKind: nullable(
    Type.String({
      description:
        '`key`, `user`, or `tool` (a command, or a service at its start); null: recorded by a version of Sluice that had no users.',
    }),
  ),
  actorId: Type.String({ description: 'Id of the API key or the user.' }),
  actorName: Type.String({ description: 'Name of the API key, e-mail address of the user.' }),
  action: Type.String(),
  collection: nullable(Type.String()),
  entityId: nullable(Type.String()),
  details: Type.Record(Type.String(), Type.Unknown()),
});

export const auditEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/audit',
    scope: 'audit:list',
    id: 'listAudit',
    audits: { action: 'audit.list' },
    tag: 'Audit',
    summary:
      'Changes, publishes and reads, with who made them and when, newest first. A read of personal data is recorded before its answer; the ' +
      'same read by the same key within five minutes is one entry',
    query: Type.Object({
      ...pageQuery,
      action: Type.Optional(Type.String({ maxLength: 100 })),
      actorId: Type.Optional(Type.String({ maxLength: 100, description: 'Id of the API key or the user.' })),
      from: Type.Optional(
        Type.String({ format: 'date-time', description: 'Only entries recorded at this time or later.' }),
      ),
      to: Type.Optional(Type.String({ format: 'date-time', description: 'Only entries recorded before this time.' })),
      collection: Type.Optional(Type.String({ maxLength: 100 })),
      entityId: Type.Optional(Type.String({ maxLength: 250 })),
      visitorId: Type.Optional(
        Type.String({
          maxLength: 400,
          description: 'Only entries about this visitor, by any of its ids. Entries contain a keyed hash of its id.',
        }),
      ),
    }),
    reply: pageOf(entry),
    async handle({ query, principal }, { storage, pool, paginator }) {
      const { accountId } = principal;
      const { action, actorId, collection, entityId, visitorId, from, to } = query;
      const fields = { action, actorId, collection, entityId };
      const list = { list: 'audit', accountId, filters: { ...fields, visitorId, from, to } };
      const { fromMs, toMs } = readTimeRange(query);
      const { limit, after } = paginator.read(query, list);
      const visitorIds = visitorId === undefined ? undefined : await visitorIdsOf(pool, accountId, visitorId);
      const filters = { ...fields, visitorIds, fromMs, toMs };
      const rows = await listAudit(storage.fork(), accountId, filters, { limit: limit + 1, after });
      return paginator.page(
        list,
        limit,
        rows,
        (row) => [row.id],
        (row) => ({ ...row, id: String(row.id), at: row.at.toISOString(), accountId: undefined }),
      );
    },
  }),
];

/** Every id under which audit entries may name a visitor: its own id, and the ids that were merged into it. */
async function visitorIdsOf(db: Queryable, accountId: string, id: string): Promise<readonly string[]> {
  const root = await findRoot(db, accountId, { id });
  return root === undefined ? [id] : [id, ...(await clusterOf(db, accountId, root.id))];
}
