import { findEntity } from '../draft/entity-store.ts';
import { notFound } from '../http/api-error.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { isUuid } from '../versions/version-store.ts';
import { replayReply, viewReplay } from '../replay/replay-view.ts';

export const readReplay = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/destinations/:id/replays/:replayId',
  scope: 'destination:find',
  id: 'getReplay',
  tag: 'Destinations',
  summary: 'Read how far a replay is',
  reply: replayReply,
  async handle({ params, actor }, { storage, replays }) {
    const row = await findEntity(storage.fork(), actor.accountId, 'destinations', params['id'] ?? '');
    if (row === undefined) throw notFound('destination');
    const replayId = params['replayId'] ?? '';
    const job = isUuid(replayId) ? await replays.find(row.id, replayId) : undefined;
    if (job === undefined) throw notFound('replay');
    return viewReplay(job);
  },
});
