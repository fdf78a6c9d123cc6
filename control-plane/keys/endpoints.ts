import { Type } from 'typebox';
import { nameField, nullable } from '../../shared/contracts/config/define-collection.ts';
import type { ApiKeyRow } from '../../shared/postgres/entities.ts';
import { badRequest, forbidden, found } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { defineService } from '../api/services.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { readTime } from '../api/time-range.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { edit } from '../draft/edit-entities.ts';
import { addApiKey, listApiKeys, makeRoomForKey, revokeApiKey } from './key-store.ts';
import { grantableNames, hasScope } from './scopes.ts';

/** Ends the live streams of an account whose keys have ended. */
export const recheckStreams = defineService<(accountId: string) => Promise<void>>('recheck of streams');

const instant = Type.String({ format: 'date-time' });

/** An API key in a reply, without the key itself. */
const keyReply = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  prefix: Type.String({ description: 'The first characters of the key, to recognise it by.' }),
  scopes: Type.Array(Type.String()),
  createdAt: instant,
  expiresAt: nullable(instant),
  revokedAt: nullable(instant),
  lastUsedAt: nullable(instant),
});

function viewKey(row: ApiKeyRow): Record<string, unknown> {
  return {
    id: row.id,
    name: row.name,
    prefix: `slk_${row.kid}`,
    scopes: row.scopes,
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt?.toISOString() ?? null,
    revokedAt: row.revokedAt?.toISOString() ?? null,
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  };
}

const scope = Type.Enum([...grantableNames]);

export const keyEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/keys',
    scope: 'key:list',
    id: 'listKeys',
    tag: 'API keys',
    summary: 'List API keys, newest first; never the keys themselves',
    query: Type.Object(pageQuery),
    reply: pageOf(keyReply),
    async handle({ query, principal }, { storage, paginator }) {
      const { accountId } = principal;
      const list = { list: 'keys', accountId, filters: {} };
      const { limit, after } = paginator.read(query, list);
      const rows = await listApiKeys(storage.fork(), accountId, { limit: limit + 1, after });
      return paginator.page(list, limit, rows, (row) => [row.createdAt.getTime(), row.id], viewKey);
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/keys',
    scope: 'key:create',
    id: 'createKey',
    tag: 'API keys',
    summary: 'Create an API key; this answer is the only one that shows it',
    body: Type.Object(
      {
        name: nameField,
        scopes: Type.Array(scope, {
          minItems: 1,
          maxItems: 200,
          uniqueItems: true,
          description:
            'If the account masks personal data, a key without `all` or `pii:read` sees only the shape of values of visitors and events.',
        }),
        expiresAt: Type.Optional(nullable(Type.String({ format: 'date-time' }))),
      },
      { additionalProperties: false },
    ),
    reply: Type.Object({ ...keyReply.properties, key: Type.String() }),
    async handle({ body, principal }, services) {
      const { name, scopes } = body;
      const expiresAt =
        body.expiresAt === undefined || body.expiresAt === null
          ? null
          : new Date(readTime('expiresAt', body.expiresAt));
      if (expiresAt !== null && expiresAt <= services.now()) throw badRequest('expiresAt must be in the future');
      // A key must not allow more than the principal that creates it, nor be valid for longer.
      const ends = principal.expiresAt;
      if (ends !== null && (expiresAt === null || expiresAt > ends)) {
        throw badRequest(
          `expiresAt is required, at most ${ends.toISOString()}: the key that creates this key expires then`,
        );
      }
      const beyond = scopes.find((one) => !hasScope(principal.scopes, one));
      if (beyond !== undefined) throw forbidden(beyond, principal.kind);
      return edit(services, principal, async ({ em, now, limits }) => {
        await makeRoomForKey(em, principal.accountId, limits.keysMax, now);
        const { key, row } = await addApiKey(em, principal.accountId, { name, scopes, expiresAt }, now);
        recordAudit(em, principal, { action: 'key.create', entityId: row.id, details: { scopes } }, now);
        return { ...viewKey(row), key };
      });
    },
  }),
  defineEndpoint({
    method: 'DELETE',
    path: '/rest/v1/keys/{id}',
    scope: 'key:delete',
    id: 'revokeKey',
    uses: { recheckStreams },
    tag: 'API keys',
    summary:
      'Revoke an API key. Requests with it are refused at once; its open live views end at their next keep-alive, at the latest',
    reply: keyReply,
    async handle({ params, principal }, services) {
      const revoked = await edit(services, principal, async ({ em, now }) => {
        const row = await found(revokeApiKey(em, principal.accountId, params.id, now), 'key');
        recordAudit(em, principal, { action: 'key.revoke', entityId: row.id }, now);
        return viewKey(row);
      });
      await services.recheckStreams(principal.accountId);
      return revoked;
    },
  }),
];
