import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { clusterOf, findRoot } from '../../shared/visitors/find-visitor.ts';
import { listMerges } from '../../shared/visitors/merge-records.ts';
import type { RecordedMerge } from '../../shared/visitors/merge-records.ts';
import { found } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { recordRead } from './audit-visitors.ts';

const instant = Type.String({ format: 'date-time' });

const mergeReply = Type.Object({
  id: Type.String(),
  at: instant,
  survivorId: Type.String(),
  loserId: Type.String({ description: 'The id that became an alias.' }),
  cause: Type.Object({
    kind: Type.Union([Type.Literal('signIn'), Type.Literal('alias'), Type.Literal('api')]),
    identifier: Type.Optional(Type.Literal('externalId')),
    eventId: Type.Optional(Type.String()),
    sourceId: Type.Optional(Type.String()),
    principal: Type.Optional(Type.String({ description: 'The id of the API key that merged them.' })),
  }),
  loserProperties: Type.Record(Type.String(), Type.Unknown(), {
    description: 'Of the visitor that became an alias, before the merge.',
  }),
  overwritten: Type.Array(Type.String(), {
    description: 'Names of properties that the survivor had with another value before the merge.',
  }),
  undoneAt: nullable(instant),
  undoneBy: nullable(Type.String({ description: 'The id of the API key.' })),
});

const viewMerge = (merge: RecordedMerge) => ({
  id: merge.id,
  at: merge.at.toISOString(),
  survivorId: merge.survivor,
  loserId: merge.loser,
  cause: merge.cause,
  loserProperties: merge.loser_properties,
  overwritten: merge.overwritten,
  undoneAt: merge.undone_at?.toISOString() ?? null,
  undoneBy: merge.undone_by,
});

export const mergeEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/visitors/{id}/merges',
    scope: 'visitor:find',
    id: 'listVisitorMerges',
    tag: 'Visitors',
    summary:
      'List the merges that made a visitor, the newest first. Of each survivor the newest 100 are kept. A device that ' +
      'had no events before it was a visitor’s is an alias, and no merge',
    query: Type.Object(pageQuery),
    reply: pageOf(mergeReply),
    async handle({ params, query, principal }, services) {
      const { pool, paginator } = services;
      const { accountId } = principal;
      const list = { list: 'visitor merges', accountId, filters: { id: params.id } };
      const { limit, after } = paginator.read(query, list);
      const visitor = await found(findRoot(pool, accountId, { id: params.id }), 'visitor');
      const ids = await clusterOf(pool, accountId, visitor.id);
      const before = after === undefined ? undefined : String(after[0]);
      const merges = await listMerges(pool, accountId, ids, { before, limit: limit + 1 });
      await recordRead(services, principal, visitor.id, { by: 'merges', isFound: true });
      return paginator.page(list, limit, merges, ({ number }) => [number], viewMerge);
    },
  }),
];
