import { notFound } from '../http/api-error.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { findVersion, liveVersionId } from '../versions/version-store.ts';
import { versionReply, viewVersion } from '../versions/version-view.ts';

export const readVersion = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/versions/:id',
  scope: 'version:find',
  id: 'getVersion',
  tag: 'Versions',
  summary: 'Read a version',
  reply: versionReply,
  async handle({ params, actor }, { storage }) {
    const em = storage.fork();
    const row = await findVersion(em, actor.accountId, params['id'] ?? '');
    if (row === undefined) throw notFound('version');
    return viewVersion(row, await liveVersionId(em, actor.accountId));
  },
});
