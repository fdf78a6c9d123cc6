import { Type } from 'typebox';
import { enabledStatus, nullable } from '../../shared/collections/define.ts';
import { sources } from '../../shared/collections/sources.ts';
import { patchSchema } from '../collections/entity-schemas.ts';
import { patchEntity } from '../draft/edit-entities.ts';
import { edit } from '../draft/edit.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { publishedSources } from '../sources/published-sources.ts';
import { sourceReply, viewSource } from '../sources/source-view.ts';

export const updateSource = defineEndpoint({
  method: 'PATCH',
  path: '/rest/v1/sources/:id',
  scope: 'source:update',
  id: 'updateSource',
  tag: 'Sources',
  summary: 'Change fields of a source',
  body: patchSchema(sources, { status: Type.Optional(nullable(enabledStatus)) }),
  reply: sourceReply,
  async handle({ params, body, actor }, services) {
    const { status, ...others } = body as Record<string, unknown>;
    // A null status is one that is left out: a source always has a status.
    const fields = status === null || status === undefined ? others : { ...others, status };
    return edit(services, actor, async (editing) => {
      const row = await patchEntity(editing, sources, params['id'] ?? '', fields);
      return viewSource(row, await publishedSources(editing.em, actor.accountId), services.liveValues);
    });
  },
});
