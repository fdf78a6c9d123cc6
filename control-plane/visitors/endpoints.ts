import { Type } from 'typebox';
import { eraseVisitor } from '../../shared/visitors/erase-visitor.ts';
import { badRequest, found, notFound } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { hashedVisitor, insertAudit } from '../audit/record-audit.ts';
import { recordRead } from './audit-visitors.ts';
import { quarantine } from '../quarantine/quarantine-service.ts';
import { erasureReference } from '../erasures/erasure-endpoints.ts';
import { erasures } from '../erasures/erasure-service.ts';
import { exportVisitor, visitorMembers, visitorReply } from './visitor-view.ts';

const suppress = Type.Optional(
  Type.Boolean({
    description:
      'Whether later events that name one of its identifiers are dropped as well: accepted with 200, and counted. Default ' +
      'false: an event received later begins a new visitor.',
  }),
);

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, description }));

export const visitorEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/visitors',
    scope: 'visitor:find',
    id: 'listVisitors',
    personal: visitorMembers,
    tag: 'Visitors',
    summary: 'Find a visitor by exactly one of userId, externalId and email',
    query: Type.Object({
      ...pageQuery,
      userId: text(
        'The id of a device, or the id of a visitor or an alias of it. Finds the visitor to whom events with only this id belong: ' +
          'on a device of several people, the person who signed in last.',
      ),
      externalId: text("The customer's id."),
      email: text('In any spelling.'),
    }),
    reply: pageOf(visitorReply),
    comparesPersonal: ({ externalId, email }) => (externalId ?? email) !== undefined,
    async handle({ query, principal, grantedBy }, services) {
      const { pool, paginator } = services;
      const { accountId } = principal;
      const { userId, externalId, email } = query;
      const keys = [
        ...(userId === undefined ? [] : [{ userId }]),
        ...(externalId === undefined ? [] : [{ externalId }]),
        ...(email === undefined ? [] : [{ email }]),
      ];
      const [key] = keys;
      if (key === undefined || keys.length > 1)
        throw badRequest('exactly one of userId, externalId and email is required');
      const list = { list: 'visitors', accountId, filters: { userId, externalId, email } };
      const { limit } = paginator.read(query, list);
      const visitor = await exportVisitor(pool, accountId, key);
      const [by = ''] = Object.keys(key);
      await recordRead(services, principal, visitor?.id, { by, isFound: visitor !== undefined, scope: grantedBy });
      return paginator.page(
        list,
        limit,
        visitor === undefined ? [] : [visitor],
        () => [],
        (found) => found,
      );
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/visitors/{id}',
    scope: 'visitor:find',
    id: 'getVisitor',
    personal: visitorMembers,
    tag: 'Visitors',
    summary: 'Read everything stored about a visitor; an alias leads to the visitor it became',
    reply: visitorReply,
    async handle({ params, principal, grantedBy }, services) {
      const visitor = await found(exportVisitor(services.pool, principal.accountId, { id: params.id }), 'visitor');
      await recordRead(services, principal, visitor.id, { by: 'id', isFound: true, scope: grantedBy });
      return visitor;
    },
  }),
  defineEndpoint({
    method: 'DELETE',
    path: '/rest/v1/visitors/{id}',
    scope: 'visitor:delete',
    id: 'deleteVisitor',
    uses: { erasures, quarantine },
    tag: 'Visitors',
    summary:
      'Erase a visitor and all that were merged into it: properties, identifiers, recent events, assignments to ' +
      'experiments. Starting one second after the answer, no destination is sent an event of the visitor that was received before, ' +
      'not even a waiting, retried or replayed one; its dead letters are deleted when they are read or replayed, its quarantined events at once. Until retention ' +
      'removes them (7 days by default, dead letters 30), the log contains its events, which are neither sent nor shown. ' +
      'Destinations are asked to delete the visitor as well: GET /rest/v1/erasures/{id} shows their answers',
    query: Type.Object({ suppress }),
    body: Type.Object({ suppress, reference: erasureReference }, { additionalProperties: false }),
    bodyOptional: true,
    reply: Type.Object({
      deleted: Type.Literal(true),
      erasureId: Type.String({
        format: 'uuid',
        description: 'Id of the record of the erasure: GET /rest/v1/erasures/{id}.',
      }),
      erasedAt: Type.String({
        format: 'date-time',
        description:
          'Events received until then are dropped. A later event begins a new visitor, unless its identifiers are suppressed.',
      }),
      suppressed: Type.Boolean(),
      ids: Type.Array(Type.String(), { description: 'The erased id and its aliases.' }),
      recentEventCount: Type.Integer({ minimum: 0, description: 'Events erased from the recent-events view.' }),
    }),
    async handle({ params, query, body, principal }, services) {
      const { accountId } = principal;
      const { pool, erasures, quarantine, now } = services;
      const announce = erasures.announcer(accountId);
      const { id } = params;
      const suppressed = query.suppress === true || body.suppress === true;
      const { erasureId, ids, counts, atMs } = await eraseVisitor(
        pool,
        {
          accountId,
          id,
          isSuppressed: suppressed,
          actor: { id: principal.id, name: principal.name },
          reference: body.reference,
        },
        {
          now: () => now().getTime(),
          async announce(erasure, db) {
            // The first time before the visitor's rows are deleted, without which a second try could not find its events in
            // quarantine; the second time for what a resolver put there that had not read the erasure yet.
            await quarantine.erase(db, accountId, erasure);
            await announce(erasure, db);
          },
          audit: async (client, erasureId, ownId) => {
            const audited = { action: 'visitor.erase', details: { suppressed, erasureId } };
            // Once the visitor is erased, an alias no longer leads to it.
            for (const one of new Set([ownId, id]))
              await insertAudit(client, principal, { ...audited, entityId: hashedVisitor(one) }, now());
          },
          forward: (client, erasure) => erasures.forward(client, accountId, erasure),
          onLeftAhead: (error) => erasures.warn(error),
        },
      );
      if (ids.length === 0) throw notFound('visitor');
      const erasedAt = new Date(atMs).toISOString();
      return { deleted: true, erasureId, erasedAt, suppressed, ids, recentEventCount: counts.recentEvents };
    },
  }),
];
