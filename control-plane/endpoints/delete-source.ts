import { Type } from 'typebox';
import { sources } from '../../shared/collections/sources.ts';
import { deleteEntity } from '../draft/edit-entities.ts';
import { edit } from '../draft/edit.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';

export const deleteSource = defineEndpoint({
  method: 'DELETE',
  path: '/rest/v1/sources/:id',
  scope: 'source:delete',
  id: 'deleteSource',
  tag: 'Sources',
  summary: 'Take a source out of the draft; it takes events until that is published',
  reply: Type.Object({ deleted: Type.Literal(true) }),
  async handle({ params, actor }, services) {
    await edit(services, actor, (editing) => deleteEntity(editing, sources, params['id'] ?? ''));
    return { deleted: true };
  },
});
