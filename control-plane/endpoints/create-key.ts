import { Type } from 'typebox';
import { nameField, nullable } from '../../shared/collections/define.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { edit } from '../draft/edit.ts';
import { badRequest, forbidden } from '../http/api-error.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { addApiKey } from '../keys/key-store.ts';
import { keyReply, viewKey } from '../keys/key-view.ts';
import { hasScope, scopes as knownScopes } from '../keys/scopes.ts';

const scope = Type.Enum([...knownScopes, 'source:view']);

export const createKey = defineEndpoint({
  method: 'POST',
  path: '/rest/v1/keys',
  scope: 'key:create',
  id: 'createKey',
  tag: 'API keys',
  summary: 'Make an API key; this answer is the only one that shows it',
  body: Type.Object(
    {
      name: nameField,
      scopes: Type.Array(scope, { minItems: 1, maxItems: 200, uniqueItems: true }),
      expiresAt: Type.Optional(nullable(Type.String({ format: 'date-time' }))),
    },
    { additionalProperties: false },
  ),
  reply: Type.Object({ ...keyReply.properties, key: Type.String() }),
  async handle({ body, actor }, services) {
    const { name, scopes } = body;
    const expiresAt = body.expiresAt === undefined || body.expiresAt === null ? null : new Date(body.expiresAt);
    if (expiresAt !== null && expiresAt <= services.now()) throw badRequest('expiresAt must be in the future');
    // A key must not be a way to more than its maker may do.
    const beyond = scopes.find((one) => !hasScope(actor.scopes, one));
    if (beyond !== undefined) throw forbidden(beyond);
    return edit(services, actor, async ({ em, now }) => {
      const { key, row } = await addApiKey(em, actor.accountId, { name, scopes, expiresAt }, now);
      recordAudit(em, actor, { action: 'key.create', entityId: row.id, details: { scopes } }, now);
      return { ...viewKey(row), key };
    });
  },
});
