import { Type } from 'typebox';
import { findEntity } from '../draft/entity-store.ts';
import { notFound } from '../http/api-error.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { pageOf, pageQuery } from '../http/pagination.ts';
import { replayReply, viewReplay } from '../replay/replay-view.ts';

export const listReplays = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/destinations/:id/replays',
  scope: 'destination:find',
  id: 'listReplays',
  tag: 'Destinations',
  summary: 'List the replays of a destination, newest first; those that are over for 30 days, the last 50 at most',
  query: Type.Object(pageQuery),
  reply: pageOf(replayReply),
  async handle({ params, query, actor }, { storage, paginator, replays }) {
    const { accountId } = actor;
    const id = params['id'] ?? '';
    const list = { list: 'replays', accountId, filters: { id } };
    const { limit, after } = paginator.read(query, list);
    const row = await findEntity(storage.fork(), accountId, 'destinations', id);
    if (row === undefined) throw notFound('destination');
    const jobs = await replays.list(row.id);
    // Ids are made in the order of time.
    const older = after === undefined ? jobs : jobs.filter((job) => job.id < String(after[0]));
    return paginator.page(list, limit, older.slice(0, limit + 1), (job) => [job.id], viewReplay);
  },
});
