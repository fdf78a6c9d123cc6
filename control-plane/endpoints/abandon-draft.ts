import { edit } from '../draft/edit.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { undoChanges } from '../versions/undo-changes.ts';
import { undoReply } from '../versions/undo-reply.ts';

export const abandonDraft = defineEndpoint({
  method: 'POST',
  path: '/rest/v1/versions/draft/abandon',
  scope: 'version:publish',
  id: 'abandonDraft',
  tag: 'Versions',
  summary: 'Undo every draft change; draft experiments stay',
  reply: undoReply,
  handle: ({ actor }, services) => edit(services, actor, (editing) => undoChanges(editing, 'all')),
});
