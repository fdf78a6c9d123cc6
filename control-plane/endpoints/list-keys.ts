import { Type } from 'typebox';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { pageOf, pageQuery } from '../http/pagination.ts';
import { listApiKeys } from '../keys/key-store.ts';
import { keyReply, viewKey } from '../keys/key-view.ts';

export const listKeys = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/keys',
  scope: 'key:list',
  id: 'listKeys',
  tag: 'API keys',
  summary: 'List API keys, newest first; never the keys themselves',
  query: Type.Object(pageQuery),
  reply: pageOf(keyReply),
  async handle({ query, actor }, { storage, paginator }) {
    const { accountId } = actor;
    const list = { list: 'keys', accountId, filters: {} };
    const { limit, after } = paginator.read(query, list);
    const rows = await listApiKeys(storage.fork(), accountId, { limit: limit + 1, after });
    return paginator.page(list, limit, rows, (row) => [row.createdAt.getTime(), row.id], viewKey);
  },
});
