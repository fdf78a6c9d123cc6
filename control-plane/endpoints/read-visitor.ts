import { notFound } from '../http/api-error.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { exportVisitor } from '../visitors/export-visitor.ts';
import { visitorReply } from '../visitors/visitor-view.ts';

export const readVisitor = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/visitors/:id',
  scope: 'visitor:find',
  id: 'getVisitor',
  tag: 'Visitors',
  summary: 'Read all that is kept of a visitor; an alias leads to the visitor it became',
  reply: visitorReply,
  async handle({ params, actor }, { pool }) {
    const visitor = await exportVisitor(pool, actor.accountId, { id: params['id'] ?? '' });
    if (visitor === undefined) throw notFound('visitor');
    return visitor;
  },
});
