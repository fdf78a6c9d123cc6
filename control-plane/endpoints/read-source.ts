import { findEntity } from '../draft/entity-store.ts';
import { notFound } from '../http/api-error.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { publishedSources } from '../sources/published-sources.ts';
import { sourceReply, viewSource } from '../sources/source-view.ts';

export const readSource = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/sources/:id',
  scope: 'source:find',
  id: 'getSource',
  tag: 'Sources',
  summary: 'Read a source',
  reply: sourceReply,
  async handle({ params, actor }, { storage, liveValues }) {
    const em = storage.fork();
    const row = await findEntity(em, actor.accountId, 'sources', params['id'] ?? '');
    if (row === undefined) throw notFound('source');
    return viewSource(row, await publishedSources(em, actor.accountId), liveValues);
  },
});
