import type { PoolClient } from 'pg';
import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { clusterOf, findRoot } from '../../shared/visitors/find-visitor.ts';
import { listMerges } from '../../shared/visitors/merge-records.ts';
import type { RecordedMerge } from '../../shared/visitors/merge-records.ts';
import { joinVisitors } from '../../shared/visitors/join-visitors.ts';
import { splitVisitors } from '../../shared/visitors/split-visitors.ts';
import type { TakenIdentity } from '../../shared/visitors/split-visitors.ts';
import { conflict, found, notFound } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import type { Principal } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { defineService } from '../api/services.ts';
import { hashedVisitor, insertAudit } from '../audit/record-audit.ts';
import type { AuditedAction } from '../audit/record-audit.ts';
import { announceRefusals } from './announce-refusals.ts';
import { recordRead } from './audit-visitors.ts';

/** Size limit of a visitor's properties as JSON, in bytes. */
export const visitorBytesMax = defineService<number>('size limit of visitors');

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
    description: 'Properties, before the merge, of the visitor that became an alias; empty once the merge is undone.',
  }),
  overwritten: Type.Array(Type.String(), {
    description:
      'Names of properties that the survivor had with another value before the merge; empty once it is undone.',
  }),
  undoneAt: nullable(instant),
  undoneBy: nullable(Type.String({ description: 'The id of the API key that undid the merge.' })),
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

const mergedReply = Type.Object({
  mergeId: Type.String({ description: 'For POST /rest/v1/visitors/{id}/split.' }),
  survivorId: Type.String({ description: 'The older visitor.' }),
  loserId: Type.String(),
});

const splitReply = Type.Object({
  survivorId: Type.String(),
  loserId: Type.String(),
  takenIdentities: Type.Array(
    Type.Object({
      kind: Type.Union([Type.Literal('externalId'), Type.Literal('email')]),
      value: Type.String(),
      visitorId: Type.String({ description: 'The visitor that has the identifier now.' }),
    }),
    { description: 'Identifiers of the restored visitor that another visitor got after the merge, and keeps.' },
  ),
});

const uuidPattern = '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$';

const viewTaken = ({ kind, value, visitorId }: TakenIdentity) => ({
  kind: kind === 'external_id' ? ('externalId' as const) : kind,
  value,
  visitorId,
});

/** Records an action as one entry for each visitor, so that the entries of either name it. */
const auditOfBoth =
  (principal: Principal, audited: AuditedAction, now: () => Date) =>
  async (client: PoolClient, ids: readonly string[]): Promise<void> => {
    for (const id of ids) await insertAudit(client, principal, { ...audited, entityId: hashedVisitor(id) }, now());
  };

export const mergeEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/visitors/{id}/merges',
    scope: 'visitor:find',
    id: 'listVisitorMerges',
    personal: ['loserProperties'],
    tag: 'Visitors',
    summary:
      'List the merges that made a visitor, newest first; the newest 100 merges of each survivor are kept. A device ' +
      'without events before it belonged to a visitor is an alias, without a merge',
    query: Type.Object(pageQuery),
    reply: pageOf(mergeReply),
    async handle({ params, query, principal, grantedBy }, services) {
      const { pool, paginator } = services;
      const { accountId } = principal;
      const list = { list: 'visitor merges', accountId, filters: { id: params.id } };
      const { limit, after } = paginator.read(query, list);
      const visitor = await found(findRoot(pool, accountId, { id: params.id }), 'visitor');
      const ids = await clusterOf(pool, accountId, visitor.id);
      const before = after === undefined ? undefined : String(after[0]);
      const merges = await listMerges(pool, accountId, ids, { before, limit: limit + 1 });
      await recordRead(services, principal, visitor.id, { by: 'merges', isFound: true, scope: grantedBy });
      return paginator.page(list, limit, merges, ({ number }) => [number], viewMerge);
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/visitors/{id}/merge',
    scope: 'visitor:update',
    id: 'mergeVisitors',
    tag: 'Visitors',
    summary:
      'Merge a visitor with another one, known people as well. The older one survives and the other id becomes an alias; ' +
      'a property that both have keeps the value of the visitor written last. 409 if both ids lead to one visitor, ' +
      'or if the merged visitor would be larger than VISITOR_BYTES_MAX (by default 32 KiB) and larger than both',
    body: Type.Object(
      { visitorId: Type.String({ minLength: 1, maxLength: 1_000, description: 'Any id of the other visitor.' }) },
      { additionalProperties: false },
    ),
    reply: mergedReply,
    uses: { visitorBytesMax, announceRefusals },
    async handle({ params, body, principal }, services) {
      const { pool, now, visitorBytesMax: propertiesBytesMax } = services;
      const { accountId } = principal;
      const cause = { kind: 'api', principal: principal.id } as const;
      const joined = await joinVisitors(
        pool,
        { accountId, ids: [params.id, body.visitorId], cause, propertiesBytesMax },
        auditOfBoth(principal, { action: 'visitor.merge' }, now),
      );
      switch (joined.kind) {
        case 'missing':
          throw notFound(joined.at === 0 ? 'visitor' : 'visitorId');
        case 'same':
          throw conflict('visitorId is the same visitor already');
        case 'tooLarge':
          throw conflict('visitorId: the properties of both are too large for one visitor');
        case 'full':
          throw conflict(
            'visitorId: both visitors together have more than the 1,000 identifiers that a visitor may have',
          );
        case 'merged':
          await services.announceRefusals(accountId, joined);
          return { mergeId: joined.mergeId, survivorId: joined.survivor, loserId: joined.loser };
      }
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/visitors/{id}/split',
    scope: 'visitor:update',
    id: 'splitVisitors',
    personal: ['value'],
    tag: 'Visitors',
    summary:
      'Undo a merge of a visitor. Both get back the properties and identifiers they had, except for suppressed identifiers; the ' +
      'survivor keeps data that it got since, and events do not merge the two again. 409 if the merge was undone already, or ' +
      'if a later merge of the survivor has to be undone first',
    body: Type.Object(
      { mergeId: Type.String({ pattern: uuidPattern, description: 'From GET /rest/v1/visitors/{id}/merges.' }) },
      { additionalProperties: false },
    ),
    reply: splitReply,
    async handle({ params, body, principal }, { pool, now }) {
      const { accountId } = principal;
      const { mergeId } = body;
      const split = await splitVisitors(
        pool,
        { accountId, id: params.id, mergeId, undoneBy: principal.id },
        auditOfBoth(principal, { action: 'visitor.split', details: { mergeId } }, now),
      );
      switch (split.kind) {
        case 'missing':
          throw notFound('mergeId');
        case 'undone':
          throw conflict('mergeId: the merge was undone already');
        case 'later':
          throw conflict(`mergeId: the later merge ${split.mergeId} of the survivor has to be undone first`);
        case 'stuck':
          throw conflict('mergeId: the survivor was merged into another visitor, and there is no record of that');
        case 'split':
          return { survivorId: split.survivor, loserId: split.loser, takenIdentities: split.taken.map(viewTaken) };
      }
    },
  }),
];
