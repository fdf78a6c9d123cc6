import { recordAudit } from '../audit/record-audit.ts';
import { edit } from '../draft/edit.ts';
import { findEntity } from '../draft/entity-store.ts';
import { notFound } from '../http/api-error.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { replayReply, viewReplay } from '../replay/replay-view.ts';
import { isUuid } from '../versions/version-store.ts';

export const cancelReplay = defineEndpoint({
  method: 'POST',
  path: '/rest/v1/destinations/:id/replays/:replayId/cancel',
  scope: 'destination:update',
  id: 'cancelReplay',
  tag: 'Destinations',
  summary: 'End a replay; what it has put before the destination already is sent, one that is over stays as it is',
  reply: replayReply,
  async handle({ params, actor }, services) {
    const job = await edit(services, actor, async ({ em, now }) => {
      const row = await findEntity(em, actor.accountId, 'destinations', params['id'] ?? '');
      if (row === undefined) throw notFound('destination');
      const cancelled = { action: 'destination.cancel-replay', collection: 'destinations', entityId: row.id };
      recordAudit(em, actor, cancelled, now);
      await em.flush();
      const replayId = params['replayId'] ?? '';
      const found = isUuid(replayId) ? await services.replays.cancel(row.id, replayId) : undefined;
      if (found === undefined) throw notFound('replay');
      return found;
    });
    return viewReplay(job);
  },
});
