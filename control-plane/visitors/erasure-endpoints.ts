import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { selectErasureRecord, selectErasureRecords } from '../../shared/visitors/erasure-records.ts';
import type { ErasureRecord } from '../../shared/visitors/erasure-records.ts';
import { found, notFound } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { isUuid } from '../store/text.ts';

export const erasureReference = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: String.raw`^[^\u0000]+$`,
    description: "The caller's own name for the request, such as a ticket. It is kept: do not name the person.",
  }),
);

const instant = Type.String({ format: 'date-time' });
const rows = (description: string) => Type.Integer({ minimum: 0, description });

const erasureReply = Type.Object({
  id: Type.String({ format: 'uuid' }),
  requestedAt: instant,
  erasedAt: Type.String({ format: 'date-time', description: 'Events received until then are dropped.' }),
  actorId: Type.String({ description: 'Id of the API key.' }),
  actorName: Type.String(),
  reference: nullable(Type.String()),
  suppressed: Type.Boolean({ description: 'Whether the request suppressed the identifiers of the visitor.' }),
  counts: Type.Object(
    {
      visitors: rows('The visitor and those merged into it.'),
      identifiers: rows('Ids of these visitors, externalIds and e-mail addresses.'),
      recentEvents: rows('Events of the recent-events view.'),
      experimentAssignments: rows('Assignments to experiments.'),
      experimentVisitors: rows('Parts in the results of experiments.'),
    },
    {
      description:
        'What was deleted in PostgreSQL. Events in the log stay until retention removes them, and are not sent.',
    },
  ),
});

function viewErasure({ requestedAtMs, erasedAtMs, actor, reference, isSuppressed, ...record }: ErasureRecord) {
  return {
    ...record,
    requestedAt: new Date(requestedAtMs).toISOString(),
    erasedAt: new Date(erasedAtMs).toISOString(),
    actorId: actor.id,
    actorName: actor.name,
    reference: reference ?? null,
    suppressed: isSuppressed,
  };
}

export const erasureEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/erasures',
    scope: 'erasure:list',
    id: 'listErasures',
    tag: 'Visitors',
    summary: 'List erasures of visitors, newest first, without their identifiers',
    query: Type.Object(pageQuery),
    reply: pageOf(erasureReply),
    async handle({ query, principal }, { pool, paginator }) {
      const { accountId } = principal;
      const list = { list: 'erasures', accountId, filters: {} };
      const { limit, after } = paginator.read(query, list);
      const rows = await selectErasureRecords(pool, accountId, {
        limit: limit + 1,
        after: after && { requestedAtMs: Number(after[0]), id: String(after[1]) },
      });
      return paginator.page(list, limit, rows, (row) => [row.requestedAtMs, row.id], viewErasure);
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/erasures/{id}',
    scope: 'erasure:find',
    id: 'getErasure',
    tag: 'Visitors',
    summary: 'Read one erasure',
    reply: erasureReply,
    async handle({ params, principal }, { pool }) {
      if (!isUuid(params.id)) throw notFound('erasure');
      return viewErasure(await found(selectErasureRecord(pool, principal.accountId, params.id), 'erasure'));
    },
  }),
];
