import { Type } from 'typebox';
import type { CollectionName } from '../../shared/config/account-config.ts';
import { nullable } from '../../shared/collections/define.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { entityStatus } from '../versions/diff.ts';
import { resolveSnapshot } from '../versions/resolve-snapshot.ts';
import { statusCollection } from '../versions/status-collections.ts';
import { liveContent } from '../versions/version-store.ts';

export const readDraftStatus = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/versions/draft/status',
  scope: 'version:find',
  id: 'getDraftStatus',
  tag: 'Versions',
  summary: 'Whether one entity of the draft differs from what is live',
  query: Type.Object({ collection: statusCollection, entityId: Type.String({ minLength: 1, maxLength: 250 }) }),
  reply: Type.Object({
    collection: statusCollection,
    id: Type.String(),
    status: nullable(Type.Enum(['added', 'modified', 'removed'])),
  }),
  async handle({ query, actor }, { storage }) {
    const em = storage.fork();
    const collection: CollectionName = query.collection;
    const draft = await resolveSnapshot(em, actor.accountId, 'draft');
    const live = await liveContent(em, actor.accountId);
    return { collection, id: query.entityId, status: entityStatus(live, draft, collection, query.entityId) };
  },
});
