import { Type } from 'typebox';
import { edit } from '../draft/edit.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { statusCollection } from '../versions/status-collections.ts';
import { undoChanges } from '../versions/undo-changes.ts';
import { undoReply } from '../versions/undo-reply.ts';

const entitiesMax = 10_000;
const entity = Type.Object(
  { collection: statusCollection, id: Type.String({ minLength: 1, maxLength: 250 }) },
  { additionalProperties: false },
);

export const revertDraft = defineEndpoint({
  method: 'POST',
  path: '/rest/v1/versions/draft/revert',
  scope: 'version:publish',
  id: 'revertDraft',
  tag: 'Versions',
  summary: 'Undo the draft changes of some entities',
  body: Type.Object({ entities: Type.Array(entity, { maxItems: entitiesMax }) }, { additionalProperties: false }),
  reply: undoReply,
  handle: ({ body, actor }, services) => edit(services, actor, (editing) => undoChanges(editing, body.entities)),
});
