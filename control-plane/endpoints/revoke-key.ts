import { recordAudit } from '../audit/record-audit.ts';
import { edit } from '../draft/edit.ts';
import { notFound } from '../http/api-error.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { revokeApiKey } from '../keys/key-store.ts';
import { keyReply, viewKey } from '../keys/key-view.ts';

export const revokeKey = defineEndpoint({
  method: 'DELETE',
  path: '/rest/v1/keys/:id',
  scope: 'key:delete',
  id: 'revokeKey',
  tag: 'API keys',
  summary: 'End an API key at once',
  reply: keyReply,
  handle: ({ params, actor }, services) =>
    edit(services, actor, async ({ em, now }) => {
      const row = await revokeApiKey(em, actor.accountId, params['id'] ?? '', now);
      if (row === undefined) throw notFound('key');
      recordAudit(em, actor, { action: 'key.revoke', entityId: row.id }, now);
      return viewKey(row);
    }),
});
