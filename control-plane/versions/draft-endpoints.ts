import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import type { CollectionName } from '../../shared/collections/registry.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { edit } from '../draft/edit-entities.ts';
import { statusCollection, undoReply } from './version-view.ts';
import { entityStatus } from './diff.ts';
import { liveContent, resolveSnapshot } from './version-store.ts';
import { undoChanges } from './undo-changes.ts';

const entitiesMax = 10_000;
const entity = Type.Object(
  { collection: statusCollection, id: Type.String({ minLength: 1, maxLength: 250 }) },
  { additionalProperties: false },
);

/** Endpoints that compare the draft with the live version and undo its changes. */
export const draftEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/versions/draft/status',
    scope: 'version:find',
    id: 'getDraftStatus',
    tag: 'Versions',
    summary: 'Whether one entity of the draft differs from the live version',
    query: Type.Object({ collection: statusCollection, entityId: Type.String({ minLength: 1, maxLength: 250 }) }),
    reply: Type.Object({
      collection: statusCollection,
      id: Type.String(),
      status: nullable(Type.Enum(['added', 'modified', 'removed'])),
    }),
    async handle({ query, principal }, { storage }) {
      const em = storage.fork();
      const collection: CollectionName = query.collection;
      const draft = await resolveSnapshot(em, principal.accountId, 'draft');
      const live = await liveContent(em, principal.accountId);
      return { collection, id: query.entityId, status: entityStatus(live, draft, collection, query.entityId) };
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/versions/draft/revert',
    scope: 'version:publish',
    id: 'revertDraft',
    tag: 'Versions',
    summary: 'Undo the draft changes of some entities',
    body: Type.Object({ entities: Type.Array(entity, { maxItems: entitiesMax }) }, { additionalProperties: false }),
    reply: undoReply,
    handle: ({ body, principal }, services) =>
      edit(services, principal, (editing) => undoChanges(editing, body.entities)),
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/versions/draft/abandon',
    scope: 'version:publish',
    id: 'abandonDraft',
    tag: 'Versions',
    summary: 'Undo every draft change; draft experiments stay',
    reply: undoReply,
    handle: ({ principal }, services) => edit(services, principal, (editing) => undoChanges(editing, 'all')),
  }),
];
