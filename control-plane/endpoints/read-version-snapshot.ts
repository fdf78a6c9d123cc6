import { Type } from 'typebox';
import { notFound } from '../http/api-error.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { maskSnapshot } from '../versions/mask-snapshot.ts';
import { emptySnapshot } from '../versions/snapshot.ts';
import { findVersion, versionContent } from '../versions/version-store.ts';

export const readVersionSnapshot = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/versions/:id/snapshot',
  scope: 'version:find',
  id: 'getVersionSnapshot',
  tag: 'Versions',
  summary: 'The whole configuration a version holds, secrets masked',
  reply: Type.Object({
    id: Type.String({ format: 'uuid' }),
    versionNumber: Type.Integer({ minimum: 1 }),
    jsonContent: Type.Record(Type.String(), Type.Array(Type.Record(Type.String(), Type.Unknown()))),
  }),
  async handle({ params, actor }, { storage }) {
    const em = storage.fork();
    const row = await findVersion(em, actor.accountId, params['id'] ?? '');
    if (row === undefined) throw notFound('version');
    const content = (await versionContent(em, actor.accountId, row.id)) ?? emptySnapshot;
    return { id: row.id, versionNumber: row.versionNumber, jsonContent: maskSnapshot(content) };
  },
});
