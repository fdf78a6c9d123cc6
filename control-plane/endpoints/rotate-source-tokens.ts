import { recordAudit } from '../audit/record-audit.ts';
import { edit } from '../draft/edit.ts';
import { findEntity } from '../draft/entity-store.ts';
import { notFound } from '../http/api-error.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { addToOutbox } from '../push/outbox.ts';
import { publishedSources } from '../sources/published-sources.ts';
import { issueSourceKeys } from '../sources/source-keys.ts';
import { tokensReply } from '../sources/tokens-reply.ts';

export const rotateSourceTokens = defineEndpoint({
  method: 'POST',
  path: '/rest/v1/sources/:id/tokens/rotate',
  scope: 'source:update',
  id: 'rotateSourceTokens',
  tag: 'Sources',
  summary: 'Give a source new keys; the old ones end at once, without a new version',
  reply: tokensReply,
  async handle({ params, actor }, services) {
    const { accountId } = actor;
    const { tokens, outboxId } = await edit(services, actor, async ({ em, now }) => {
      const row = await findEntity(em, accountId, 'sources', params['id'] ?? '');
      if (row === undefined) throw notFound('source');
      const issued = await issueSourceKeys(em, services.secretBox, row, now);
      const rotated = { action: 'source.rotate-tokens', collection: 'sources', entityId: row.id };
      recordAudit(em, actor, rotated, now);
      const isLive = (await publishedSources(em, accountId)).has(row.id);
      return { tokens: issued, outboxId: isLive ? await addToOutbox(em, accountId, now) : undefined };
    });
    if (outboxId !== undefined) await services.pushStation.whenApplied(outboxId);
    return tokens;
  },
});
