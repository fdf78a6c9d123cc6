import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { badRequest, notFound } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import type { CoreServices, Principal } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { insertAudit, recordAudit } from '../audit/record-audit.ts';
import { eraseVisitor } from './erase-visitor.ts';
import { exportVisitor, visitorReply } from './visitor-view.ts';

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, description }));

export const visitorEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/visitors',
    scope: 'visitor:find',
    id: 'listVisitors',
    tag: 'Visitors',
    summary: 'Find a visitor by exactly one of userId, externalId and email',
    query: Type.Object({
      ...pageQuery,
      userId: text(
        'The id of a device, or the own id of a visitor, or an alias of it. Finds whom events with this id alone belong to: ' +
          'on a device of several people, who signed in there last.',
      ),
      externalId: text("The customer's id."),
      email: text('In any spelling.'),
    }),
    reply: pageOf(visitorReply),
    async handle({ query, principal }, services) {
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
      await recordRead(services, principal, visitor?.id, { by, isFound: visitor !== undefined });
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
    path: '/rest/v1/visitors/:id',
    scope: 'visitor:find',
    id: 'getVisitor',
    tag: 'Visitors',
    summary: 'Read all that is kept of a visitor; an alias leads to the visitor it became',
    reply: visitorReply,
    async handle({ params, principal }, services) {
      const visitor = await exportVisitor(services.pool, principal.accountId, { id: params['id'] ?? '' });
      if (visitor === undefined) throw notFound('visitor');
      await recordRead(services, principal, visitor.id, { by: 'id', isFound: true });
      return visitor;
    },
  }),
  defineEndpoint({
    method: 'DELETE',
    path: '/rest/v1/visitors/:id',
    scope: 'visitor:delete',
    id: 'deleteVisitor',
    tag: 'Visitors',
    summary:
      'Erase a visitor: its properties, what identifies it, its recent events, and its assignments to experiments. ' +
      'Events in the log leave it with ' +
      'retention (7 days); dead letters, and what destinations were sent, are not touched',
    reply: Type.Object({
      deleted: Type.Literal(true),
      ids: Type.Array(Type.String(), { description: 'The erased id and its aliases.' }),
      recentEventCount: Type.Integer({ minimum: 0, description: 'Events erased from the recent-events view.' }),
    }),
    async handle({ params, principal }, services) {
      const id = params['id'] ?? '';
      const { ids, recentEventCount } = await eraseVisitor(services.pool, principal.accountId, id, (client) =>
        insertAudit(client, principal, { action: 'visitor.erase', entityId: hashedId(id) }, services.now()),
      );
      if (ids.length === 0) throw notFound('visitor');
      return { deleted: true, ids, recentEventCount };
    },
  }),
];

/** Notes who looked at whom, before it is shown: what cannot be audited is not. */
async function recordRead(
  { storage, now }: CoreServices,
  principal: Principal,
  id: unknown,
  details: { readonly by: string; readonly isFound: boolean },
): Promise<void> {
  const em = storage.fork();
  const whom = typeof id === 'string' ? { entityId: hashedId(id) } : {};
  recordAudit(em, principal, { action: 'visitor.read', ...whom, details }, now());
  await em.flush();
}

/** Lets an auditor who has the id of a visitor find the entry, and nobody else the visitor. */
function hashedId(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}
