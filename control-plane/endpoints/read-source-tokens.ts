import { findEntity } from '../draft/entity-store.ts';
import { notFound } from '../http/api-error.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { readSourceTokens as openTokens } from '../sources/source-keys.ts';
import { tokensReply } from '../sources/tokens-reply.ts';

export const readSourceTokens = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/sources/:id/tokens',
  scope: 'source:find',
  id: 'getSourceTokens',
  tag: 'Sources',
  summary: 'The keys events are sent with',
  reply: tokensReply,
  async handle({ params, actor }, { storage, secretBox }) {
    const em = storage.fork();
    const row = await findEntity(em, actor.accountId, 'sources', params['id'] ?? '');
    const tokens = row === undefined ? undefined : await openTokens(em, secretBox, row);
    if (tokens === undefined) throw notFound('source');
    return tokens;
  },
});
