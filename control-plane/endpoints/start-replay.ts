import { recordAudit } from '../audit/record-audit.ts';
import { findLiveDestination } from '../destinations/live-destination.ts';
import { edit } from '../draft/edit.ts';
import { findEntity } from '../draft/entity-store.ts';
import { badRequest, notFound } from '../http/api-error.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { readReplayRequest, replayBody } from '../replay/replay-body.ts';
import { replayReply, viewReplay } from '../replay/replay-view.ts';

export const startReplay = defineEndpoint({
  method: 'POST',
  path: '/rest/v1/destinations/:id/replay',
  scope: 'destination:update',
  id: 'startReplay',
  tag: 'Destinations',
  summary:
    'Send dead letters, or a range of the log, to the destination again, each event with the idempotency key it always ' +
    'had; the same request while such a replay is not over answers that one. Replayed events arrive after what was ' +
    'delivered since, in their own order for each visitor; where earlier events of a visitor wait, they wait behind those',
  body: replayBody,
  reply: replayReply,
  async handle({ params, body, actor }, services) {
    const { accountId } = actor;
    const request = readReplayRequest(body);
    const job = await edit(services, actor, async ({ em, now }) => {
      const row = await findEntity(em, accountId, 'destinations', params['id'] ?? '');
      if (row === undefined) throw notFound('destination');
      const live = await findLiveDestination(em, accountId, row.id);
      if (live === undefined) throw badRequest('the destination is not in the live version: publish it first');
      if (live['status'] !== 'Enabled') {
        throw badRequest('the destination is Disabled in the live version: enable and publish it first');
      }
      // Written before it is asked for: what cannot be audited is not done.
      const asked = { action: 'destination.replay', collection: 'destinations', entityId: row.id };
      recordAudit(em, actor, { ...asked, details: { what: request.what } }, now);
      await em.flush();
      return services.replays.start(accountId, row.id, request);
    });
    return viewReplay(job);
  },
});
