import { Type } from 'typebox';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { pageOf, pageQuery } from '../http/pagination.ts';
import { listVersions as findVersions, liveVersionId } from '../versions/version-store.ts';
import { versionReply, viewVersion } from '../versions/version-view.ts';

export const listVersions = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/versions',
  scope: 'version:list',
  id: 'listVersions',
  tag: 'Versions',
  summary: 'List versions, newest first',
  query: Type.Object({
    ...pageQuery,
    isPublished: Type.Optional(Type.Boolean()),
    nameContains: Type.Optional(Type.String({ maxLength: 250 })),
    notesContains: Type.Optional(Type.String({ maxLength: 250 })),
  }),
  reply: pageOf(versionReply),
  async handle({ query, actor }, { storage, paginator }) {
    const { accountId } = actor;
    const { isPublished, nameContains, notesContains } = query;
    const list = { list: 'versions', accountId, filters: { isPublished, nameContains, notesContains } };
    const { limit, after } = paginator.read(query, list);
    const em = storage.fork();
    const liveId = await liveVersionId(em, accountId);
    const filters = { liveId, isPublished, nameContains, notesContains };
    const rows = await findVersions(em, accountId, filters, { limit: limit + 1, after });
    return paginator.page(
      list,
      limit,
      rows,
      (row) => [row.versionNumber],
      (row) => viewVersion(row, liveId),
    );
  },
});
