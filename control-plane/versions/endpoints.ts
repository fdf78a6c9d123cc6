import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import type { CollectionName } from '../../shared/collections/registry.ts';
import { publishesOnCreate } from '../account/endpoints.ts';
import { forbidden, notFound } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import type { CoreServices } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { edit } from '../draft/edit-entities.ts';
import { liveVersionId } from '../draft/live-version.ts';
import { emptySnapshot } from '../draft/snapshot.ts';
import { hasScope } from '../keys/scopes.ts';
import type { PublishingService } from '../publishing/publishing-service.ts';
import { allowlistFields } from './allowlist-fields.ts';
import { createVersion } from './create-version.ts';
import {
  changesReply,
  diffReply,
  statusCollection,
  undoReply,
  versionName,
  versionNotes,
  versionReply,
  viewVersion,
} from './version-view.ts';
import { diffSnapshots, entityStatus } from './diff.ts';
import { publishDraft } from './publish-draft.ts';
import { publishVersion } from './publish-version.ts';
import { listChanges } from './list-changes.ts';
import {
  findVersion,
  listVersions as findVersions,
  liveContent,
  maskSnapshot,
  renameVersion,
  resolveSnapshot,
  versionContent,
} from './version-store.ts';
import { undoChanges } from './undo-changes.ts';

const allowlists = allowlistFields(({ allowlisted }) => allowlisted);

const ignored = Type.Optional(Type.Unknown({ description: 'Read-only: accepted and ignored.' }));
const readOnly = Object.fromEntries(Object.keys(versionReply.properties).map((field) => [field, ignored]));

const against = Type.Union([Type.String({ format: 'uuid' }), Type.Literal('draft')], {
  title: 'the id of a version or draft',
});

const entitiesMax = 10_000;
const entity = Type.Object(
  { collection: statusCollection, id: Type.String({ minLength: 1, maxLength: 250 }) },
  { additionalProperties: false },
);

/** What versions need beside what every endpoint has. */
export type VersionServices = {
  readonly publishing: PublishingService;
};

export const versionEndpoints = [
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
    method: 'POST',
    path: '/rest/v1/versions',
    scope: 'version:create',
    id: 'createVersion',
    tag: 'Versions',
    summary: 'Take a version of the draft, or of the part of it the allowlists name, and publish it if asked to',
    body: Type.Object(
      {
        name: Type.Optional(nullable(versionName)),
        notes: Type.Optional(nullable(versionNotes)),
        publish: Type.Optional(
          nullable(
            Type.Boolean({
              description:
                'True makes the version live at once, for which the key needs the scope version:publish; 409 where it would change nothing. Null or left out: as the account is set.',
            }),
          ),
        ),
        ...allowlists,
      },
      { additionalProperties: false },
    ),
    bodyOptional: true,
    reply: versionReply,
    async handle({ body, principal }, services: CoreServices & VersionServices) {
      const { publishing, secretBox } = services;
      const { publish, ...request } = body;
      const toPublish = publish ?? (await publishesOnCreate(services.storage.fork(), principal.accountId));
      if (toPublish && !hasScope(principal.scopes, 'version:publish')) throw forbidden('version:publish');
      const { version, liveId, outboxId } = await edit(services, principal, async (editing) => {
        if (toPublish) {
          const limits = { secretBox, documentBytesMax: publishing.documentBytesMax() };
          const published = await publishDraft(editing, request, limits);
          return { ...published, liveId: published.version.id };
        }
        const row = await createVersion(editing, request, { secretBox, toPublish });
        return { version: row, liveId: await liveVersionId(editing.em, principal.accountId), outboxId: undefined };
      });
      if (outboxId !== undefined) await publishing.whenApplied(outboxId);
      return viewVersion(version, liveId);
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/versions/:id',
    scope: 'version:find',
    id: 'getVersion',
    tag: 'Versions',
    summary: 'Read a version',
    reply: versionReply,
    async handle({ params, principal }, { storage }) {
      const em = storage.fork();
      const row = await findVersion(em, principal.accountId, params['id'] ?? '');
      if (row === undefined) throw notFound('version');
      return viewVersion(row, await liveVersionId(em, principal.accountId));
    },
  }),
  defineEndpoint({
    method: 'PATCH',
    path: '/rest/v1/versions/:id',
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
        const row = await findVersion(em, principal.accountId, params['id'] ?? '');
        if (row === undefined) throw notFound('version');
        renameVersion(row, name ?? row.name, notes === undefined ? (row.notes ?? null) : notes);
        recordAudit(em, principal, { action: 'version.update', entityId: row.id }, now);
        return viewVersion(row, await liveVersionId(em, principal.accountId));
      });
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/versions/:id/publish',
    scope: 'version:publish',
    id: 'publishVersion',
    tag: 'Versions',
    summary: 'Make a version live, an older one too; answers once every process runs it or 2 seconds have passed',
    reply: versionReply,
    async handle({ params, principal }, services: CoreServices & VersionServices) {
      const { publishing } = services;
      const { version, outboxId } = await edit(services, principal, (editing) =>
        publishVersion(editing, params['id'] ?? '', publishing.documentBytesMax()),
      );
      if (outboxId !== undefined) await publishing.whenApplied(outboxId);
      return viewVersion(version, version.id);
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/versions/:id/snapshot',
    scope: 'version:find',
    id: 'getVersionSnapshot',
    tag: 'Versions',
    summary: 'The whole configuration a version holds, secrets masked',
    reply: Type.Object({
      id: Type.String({ format: 'uuid' }),
      versionNumber: Type.Integer({ minimum: 1 }),
      jsonContent: Type.Record(Type.String(), Type.Array(Type.Record(Type.String(), Type.Unknown()))),
    }),
    async handle({ params, principal }, { storage }) {
      const em = storage.fork();
      const row = await findVersion(em, principal.accountId, params['id'] ?? '');
      if (row === undefined) throw notFound('version');
      const content = (await versionContent(em, principal.accountId, row.id)) ?? emptySnapshot;
      return { id: row.id, versionNumber: row.versionNumber, jsonContent: maskSnapshot(content) };
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/versions/:id/diff',
    scope: 'version:find',
    id: 'getVersionDiff',
    tag: 'Versions',
    summary: 'What a version, or the draft, changes against another; by default against the one that is live',
    query: Type.Object({ against: Type.Optional(against) }),
    reply: diffReply,
    async handle({ params, query, principal }, { storage }) {
      const em = storage.fork();
      const { accountId } = principal;
      const target = await resolveSnapshot(em, accountId, params['id'] ?? '');
      const baseline =
        query.against === undefined
          ? await liveContent(em, accountId)
          : await resolveSnapshot(em, accountId, query.against);
      return diffSnapshots(baseline, target);
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/versions/:id/changes',
    scope: 'version:find',
    id: 'getVersionChanges',
    tag: 'Versions',
    summary: 'The same as the diff, field by field, secrets masked',
    query: Type.Object({ against: Type.Optional(against) }),
    reply: changesReply,
    async handle({ params, query, principal }, { storage }) {
      const em = storage.fork();
      const { accountId } = principal;
      const target = await resolveSnapshot(em, accountId, params['id'] ?? '');
      const baseline =
        query.against === undefined
          ? await liveContent(em, accountId)
          : await resolveSnapshot(em, accountId, query.against);
      return { changes: listChanges(baseline, target) };
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/versions/draft/status',
    scope: 'version:find',
    id: 'getDraftStatus',
    tag: 'Versions',
    summary: 'Whether one entity of the draft differs from what is live',
    query: Type.Object({ collection: statusCollection, entityId: Type.String({ minLength: 1, maxLength: 250 }) }),
    reply: Type.Object({
      collection: statusCollection,
      id: Type.String(),
      status: nullable(Type.Enum(['added', 'modified', 'removed'])),
    }),
    async handle({ query, principal }, { storage }) {
      const em = storage.fork();
      const collection: CollectionName = query.collection;
      const draft = await resolveSnapshot(em, principal.accountId, 'draft');
      const live = await liveContent(em, principal.accountId);
      return { collection, id: query.entityId, status: entityStatus(live, draft, collection, query.entityId) };
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/versions/draft/revert',
    scope: 'version:publish',
    id: 'revertDraft',
    tag: 'Versions',
    summary: 'Undo the draft changes of some entities',
    body: Type.Object({ entities: Type.Array(entity, { maxItems: entitiesMax }) }, { additionalProperties: false }),
    reply: undoReply,
    handle: ({ body, principal }, services) =>
      edit(services, principal, (editing) => undoChanges(editing, body.entities)),
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/versions/draft/abandon',
    scope: 'version:publish',
    id: 'abandonDraft',
    tag: 'Versions',
    summary: 'Undo every draft change; draft experiments stay',
    reply: undoReply,
    handle: ({ principal }, services) => edit(services, principal, (editing) => undoChanges(editing, 'all')),
  }),
];
