import { sources } from '../../shared/collections/sources.ts';
import { createSchema } from '../collections/entity-schemas.ts';
import { edit } from '../draft/edit.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { createSource as addSource } from '../sources/create-source.ts';
import { sourceReply, viewSource } from '../sources/source-view.ts';

export const createSource = defineEndpoint({
  method: 'POST',
  path: '/rest/v1/sources',
  scope: 'source:create',
  id: 'createSource',
  tag: 'Sources',
  summary: 'Add a source to the draft; it takes events once it is published',
  body: createSchema(sources),
  reply: sourceReply,
  async handle({ body, actor }, services) {
    const fields = body as Record<string, unknown>;
    const row = await edit(services, actor, (editing) => addSource(editing, services.secretBox, fields));
    return viewSource(row, new Set(), services.liveValues);
  },
});
