import { Type } from 'typebox';
import { enabledStatus } from '../../shared/collections/define.ts';
import { sourceTypes } from '../../shared/collections/source-types.ts';
import { entityPosition, listEntities } from '../draft/entity-store.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { pageOf, pageQuery } from '../http/pagination.ts';
import { publishedSources } from '../sources/published-sources.ts';
import { sourceReply, viewSource } from '../sources/source-view.ts';

export const listSources = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/sources',
  scope: 'source:list',
  id: 'listSources',
  tag: 'Sources',
  summary: 'List sources, newest first',
  query: Type.Object({
    ...pageQuery,
    type: Type.Optional(Type.Enum([...sourceTypes])),
    status: Type.Optional(enabledStatus),
    nameContains: Type.Optional(Type.String({ maxLength: 250 })),
  }),
  reply: pageOf(sourceReply),
  async handle({ query, actor }, { storage, paginator, liveValues }) {
    const { accountId } = actor;
    const { type, status, nameContains } = query;
    const list = { list: 'sources', accountId, filters: { type, status, nameContains } };
    const { limit, after } = paginator.read(query, list);
    const em = storage.fork();
    const filters = { equals: { type, status }, nameContains };
    const rows = await listEntities(em, accountId, 'sources', filters, { limit: limit + 1, after });
    const published = await publishedSources(em, accountId);
    return paginator.page(list, limit, rows, entityPosition, (row) => viewSource(row, published, liveValues));
  },
});
