import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { edit } from '../draft/edit-entities.ts';
import { liveVersionId } from '../draft/live-version.ts';
import { versionName, versionNotes, versionReply, viewVersion } from './version-view.ts';
import { deleteVersion, listVersions as findVersions, renameVersion, requireVersion } from './version-store.ts';

const ignored = Type.Optional(Type.Unknown({ description: 'Read-only: accepted and ignored.' }));
const readOnly = Object.fromEntries(Object.keys(versionReply.properties).map((field) => [field, ignored]));

/** Endpoints for stored versions: they list, show, rename and delete versions. */
export const storedVersionEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/versions',
    scope: 'version:list',
    id: 'listVersions',
    tag: 'Versions',
    summary: 'List versions, newest first',
    query: Type.Object({
      ...pageQuery,
      isPublished: Type.Optional(Type.Boolean()),
      nameContains: Type.Optional(Type.String({ maxLength: 250 })),
      notesContains: Type.Optional(Type.String({ maxLength: 250 })),
    }),
    reply: pageOf(versionReply),
    async handle({ query, principal }, { storage, paginator }) {
      const { accountId } = principal;
      const { isPublished, nameContains, notesContains } = query;
      const list = { list: 'versions', accountId, filters: { isPublished, nameContains, notesContains } };
      const { limit, after } = paginator.read(query, list);
      const em = storage.fork();
      const liveId = await liveVersionId(em, accountId);
      const filters = { liveId, isPublished, nameContains, notesContains };
      const rows = await findVersions(em, accountId, filters, { limit: limit + 1, after });
      return paginator.page(
        list,
        limit,
        rows,
        (row) => [row.versionNumber],
        (row) => viewVersion(row, liveId),
      );
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/versions/{id}',
    scope: 'version:find',
    id: 'getVersion',
    tag: 'Versions',
    summary: 'Read a version',
    reply: versionReply,
    async handle({ params, principal }, { storage }) {
      const em = storage.fork();
      const row = await requireVersion(em, principal.accountId, params.id);
      return viewVersion(row, await liveVersionId(em, principal.accountId));
    },
  }),
  defineEndpoint({
    method: 'PATCH',
    path: '/rest/v1/versions/{id}',
    scope: 'version:update',
    id: 'updateVersion',
    tag: 'Versions',
    summary: 'Rename a version or change its notes; its content never changes',
    body: Type.Object(
      { ...readOnly, name: Type.Optional(versionName), notes: Type.Optional(nullable(versionNotes)) },
      { additionalProperties: false },
    ),
    reply: versionReply,
    async handle({ params, body, principal }, services) {
      const { name, notes } = body as { readonly name?: string; readonly notes?: string | null };
      return edit(services, principal, async ({ em, now }) => {
        const row = await requireVersion(em, principal.accountId, params.id);
        renameVersion(row, name ?? row.name, notes === undefined ? (row.notes ?? null) : notes);
        recordAudit(em, principal, { action: 'version.update', entityId: row.id }, now);
        return viewVersion(row, await liveVersionId(em, principal.accountId));
      });
    },
  }),
  defineEndpoint({
    method: 'DELETE',
    path: '/rest/v1/versions/{id}',
    scope: 'version:delete',
    id: 'deleteVersion',
    tag: 'Versions',
    summary: 'Delete an old version; neither the live one nor the newest',
    reply: Type.Object({ deleted: Type.Literal(true) }),
    handle: ({ params, principal }, services) =>
      edit(services, principal, async ({ em, now }) => {
        const { id, versionNumber } = await deleteVersion(em, principal.accountId, params.id);
        recordAudit(em, principal, { action: 'version.delete', entityId: id, details: { versionNumber } }, now);
        return { deleted: true };
      }),
  }),
];
