import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { recordAudit } from '../audit/record-audit.ts';
import { edit } from '../draft/edit.ts';
import { notFound } from '../http/api-error.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { eraseVisitor } from '../visitors/erase-visitor.ts';

export const deleteVisitor = defineEndpoint({
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
  async handle({ params, actor }, services) {
    const id = params['id'] ?? '';
    return edit(services, actor, async ({ em, now }) => {
      // Written before the erasure, which has a transaction of its own: what cannot be audited is not done. The hash
      // lets an auditor who has the id find the entry, and nobody else the visitor.
      const entityId = createHash('sha256').update(id).digest('hex');
      recordAudit(em, actor, { action: 'visitor.erase', entityId }, now);
      await em.flush();
      const { ids, recentEventCount } = await eraseVisitor(services.pool, actor.accountId, id);
      if (ids.length === 0) throw notFound('visitor');
      return { deleted: true, ids, recentEventCount };
    });
  },
});
