import { Type } from 'typebox';
import { enabledStatus, nullable } from '../../shared/contracts/config/define-collection.ts';
import { sourceTypes } from '../../shared/collections/source-types.ts';
import { sources } from '../../shared/collections/sources.ts';
import { badRequest } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { createSchema, patchSchema } from '../collections/entity-schemas.ts';
import { deleteEntity, edit, patchEntity } from '../draft/edit-entities.ts';
import { entityPosition, listEntities, requireEntity } from '../draft/entity-store.ts';
import { liveValues } from '../health/live-values.ts';
import { addToOutbox } from '../publishing/outbox.ts';
import { publishing } from '../publishing/publishing-service.ts';
import type { PublishingService } from '../publishing/publishing-service.ts';
import { liveSources } from '../draft/live-version.ts';
import { ingestUrl } from './ingest-url.ts';
import { checkToken, checkedTokenReply } from './check-token.ts';
import { createSource, issueSourceKeys } from './create-source.ts';
import { describeSourceTypes, sourceTypeReply } from './describe-source-types.ts';
import { revealTokens } from './reveal-tokens.ts';
import { sealSourceSecrets, sourceSealers, sourceSecrets } from './source-secrets.ts';
import { issueUserHashSecret, readUserHashSecret, takesUserHash } from './user-hash-secret.ts';
import { sourceReply, tokensReply, viewSource, viewTokens } from './source-view.ts';

export const sourceEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/sources',
    scope: 'source:list',
    id: 'listSources',
    uses: { liveValues },
    tag: 'Sources',
    summary: 'List sources, newest first',
    query: Type.Object({
      ...pageQuery,
      type: Type.Optional(Type.Enum([...sourceTypes])),
      status: Type.Optional(enabledStatus),
      nameContains: Type.Optional(Type.String({ maxLength: 250 })),
    }),
    reply: pageOf(sourceReply),
    async handle({ query, principal }, { storage, paginator, liveValues }) {
      const { accountId } = principal;
      const { type, status, nameContains } = query;
      const list = { list: 'sources', accountId, filters: { type, status, nameContains } };
      const { limit, after } = paginator.read(query, list);
      const em = storage.fork();
      const filters = { equals: { type, status }, nameContains };
      const rows = await listEntities(em, accountId, 'sources', filters, { limit: limit + 1, after });
      const live = await liveSources(em, accountId);
      return paginator.page(list, limit, rows, entityPosition, (row) => viewSource(row, live, liveValues));
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/sources',
    scope: 'source:create',
    id: 'createSource',
    uses: { liveValues, sourceSecrets },
    tag: 'Sources',
    summary: 'Add a source to the draft; it accepts events once it is published',
    body: createSchema(sources),
    reply: sourceReply,
    async handle({ body, principal }, services) {
      const fields = body as Record<string, unknown>;
      const row = await edit(services, principal, (editing) => createSource(editing, services, fields));
      return viewSource(row, new Map(), services.liveValues);
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/sources/types',
    scope: 'source:list',
    id: 'listSourceTypes',
    tag: 'Sources',
    summary: 'The types a source may have, with what the provider of a webhook needs',
    reply: Type.Object({ entities: Type.Array(sourceTypeReply) }),
    handle: () => Promise.resolve({ entities: describeSourceTypes() }),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/sources/{id}',
    scope: 'source:find',
    id: 'getSource',
    uses: { liveValues },
    tag: 'Sources',
    summary: 'Read a source',
    reply: sourceReply,
    async handle({ params, principal }, { storage, liveValues }) {
      const em = storage.fork();
      const row = await requireEntity(em, principal.accountId, 'sources', params.id);
      return viewSource(row, await liveSources(em, principal.accountId), liveValues);
    },
  }),
  defineEndpoint({
    method: 'PATCH',
    path: '/rest/v1/sources/{id}',
    scope: 'source:update',
    id: 'updateSource',
    uses: { liveValues, sourceSecrets },
    tag: 'Sources',
    summary: 'Change fields of a source',
    body: patchSchema(sources, { status: Type.Optional(nullable(enabledStatus)) }),
    reply: sourceReply,
    async handle({ params, body, principal }, services) {
      const { status, ...others } = body as Record<string, unknown>;
      // A null status counts as absent: a source always has a status.
      const fields = status === null || status === undefined ? others : { ...others, status };
      return edit(services, principal, async (editing) => {
        const { id } = params;
        const sealers = sourceSealers(services, principal.accountId, id);
        const row = await patchEntity(editing, sources, id, fields, (next, before) =>
          sealSourceSecrets(next, before, sealers),
        );
        return viewSource(row, await liveSources(editing.em, principal.accountId), services.liveValues);
      });
    },
  }),
  defineEndpoint({
    method: 'DELETE',
    path: '/rest/v1/sources/{id}',
    scope: 'source:delete',
    id: 'deleteSource',
    tag: 'Sources',
    summary: 'Remove a source from the draft; it accepts events until the removal is published',
    reply: Type.Object({ deleted: Type.Literal(true) }),
    async handle({ params, principal }, services) {
      await edit(services, principal, (editing) => deleteEntity(editing, sources, params.id));
      return { deleted: true };
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/sources/tokens/check',
    scope: 'source:list',
    id: 'checkSourceToken',
    tag: 'Sources',
    summary: 'Why gateways answer a key with 401, or that they accept it',
    body: Type.Object({ token: Type.String({ minLength: 1, maxLength: 200 }) }, { additionalProperties: false }),
    reply: checkedTokenReply,
    handle: ({ body, principal }, { storage }) => checkToken(storage.fork(), principal.accountId, body.token),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/sources/{id}/tokens',
    scope: 'source:tokens',
    id: 'getSourceTokens',
    uses: { ingestUrl },
    tag: 'Sources',
    summary: 'The keys with which events are sent',
    reply: tokensReply,
    async handle({ params, principal }, services) {
      const { row, tokens } = await revealTokens(services, principal, params.id);
      const secret = await readUserHashSecret(services.storage.fork(), services.secretBox, row);
      return viewTokens(row, { ...tokens, secret }, services.ingestUrl);
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/sources/{id}/tokens/rotate',
    scope: 'source:update',
    id: 'rotateSourceTokens',
    uses: { ingestUrl, publishing },
    isCostly: true,
    tag: 'Sources',
    summary: 'Give a source new keys; the old keys stop working at once, without a new version',
    reply: tokensReply,
    async handle({ params, principal }, services) {
      const { accountId } = principal;
      const { tokens, outboxId } = await edit(services, principal, async ({ em, now }) => {
        const row = await requireEntity(em, accountId, 'sources', params.id);
        const issued = await issueSourceKeys(em, services.secretBox, row, now);
        const rotated = { action: 'source.rotate-tokens', collection: 'sources', entityId: row.id };
        recordAudit(em, principal, rotated, now);
        const isLive = (await liveSources(em, accountId)).has(row.id);
        const secret = await readUserHashSecret(em, services.secretBox, row);
        const tokens = viewTokens(row, { ...issued, secret }, services.ingestUrl);
        return {
          tokens,
          outboxId: isLive ? await addToOutbox(em, accountId, now, sizeCheck(services, 'new keys')) : undefined,
        };
      });
      if (outboxId !== undefined) await services.publishing.whenApplied(outboxId);
      return tokens;
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/sources/{id}/secret/rotate',
    scope: 'source:update',
    id: 'rotateSourceSecret',
    uses: { ingestUrl, publishing },
    isCostly: true,
    tag: 'Sources',
    summary:
      'Give a web, pixel, redirect or mobile source a new secret for userHash; the old secret stops working at once',
    reply: tokensReply,
    async handle({ params, principal }, services) {
      const { accountId } = principal;
      const { row, tokens } = await revealTokens(services, principal, params.id);
      const { type } = row.body;
      if (!takesUserHash(type)) {
        throw badRequest(
          `a ${String(type)} has no secret`,
          'only servers have the key of this source, so its events need no userHash',
        );
      }
      const { secret, outboxId } = await edit(services, principal, async ({ em, now }) => {
        const issued = await issueUserHashSecret(em, services.secretBox, row, now);
        recordAudit(em, principal, { action: 'source.rotate-secret', collection: 'sources', entityId: row.id }, now);
        const isLive = (await liveSources(em, accountId)).has(row.id);
        return {
          secret: issued,
          outboxId: isLive ? await addToOutbox(em, accountId, now, sizeCheck(services, 'a new secret')) : undefined,
        };
      });
      if (outboxId !== undefined) await services.publishing.whenApplied(outboxId);
      return viewTokens(row, { ...tokens, secret }, services.ingestUrl);
    },
  }),
];

const sizeCheck = ({ publishing: { documentBytesMax } }: { readonly publishing: PublishingService }, what: string) => ({
  documentBytesMax: documentBytesMax(),
  refusal: `with ${what} of the source, the live configuration would be too large to publish`,
});
