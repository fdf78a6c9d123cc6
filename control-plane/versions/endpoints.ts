import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import type { CollectionName, Snapshot } from '../../shared/collections/registry.ts';
import { publishesOnCreate } from '../account/endpoints.ts';
import { forbidden, notFound } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import type { CoreServices } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { edit } from '../draft/edit-entities.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { loadDraft } from '../draft/entity-store.ts';
import { liveVersionId } from '../draft/live-version.ts';
import { emptySnapshot } from '../draft/snapshot.ts';
import { hasScope } from '../keys/scopes.ts';
import type { LeaseCache, PublishingService } from '../publishing/publishing-service.ts';
import { allowlistFields } from './allowlist-fields.ts';
import { composeSnapshot, createVersion } from './create-version.ts';
import type { VersionRequest } from './create-version.ts';
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
import { backlogLeft, findBacklogsLeft, refusalFor } from './backlogs-left.ts';
import type { BacklogLeft, BacklogServices } from './backlogs-left.ts';
import { publishDraft } from './publish-draft.ts';
import { publishVersion } from './publish-version.ts';
import { readRollout, rolloutReply } from './read-rollout.ts';
import { listChanges } from './list-changes.ts';
import {
  compareSnapshots,
  deleteVersion,
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
export type VersionServices = BacklogServices & {
  readonly publishing: PublishingService;
  readonly leases: LeaseCache;
  /** Whether a publish that leaves a backlog behind needs `force`. */
  readonly guardsBacklogs: boolean;
};

const force = Type.Optional(
  nullable(
    Type.Boolean({
      description:
        'Publish though events wait for a destination that the version removes or disables: without it that is a 409 ' +
        'which says what waits. Nothing more of it is sent; it stays in the log for as long as that is kept, and a ' +
        'replay from `unsentSince` sends it once the destination is live again.',
    }),
  ),
);

const publishedReply = Type.Object({
  ...versionReply.properties,
  backlogsLeft: Type.Optional(
    Type.Array(backlogLeft, { description: 'What was left unsent; absent where nothing was.' }),
  ),
});

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
    isCostly: true,
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
        force,
        ...allowlists,
      },
      { additionalProperties: false },
    ),
    bodyOptional: true,
    reply: publishedReply,
    async handle({ body, principal }, services: CoreServices & VersionServices) {
      const { publishing, secretBox, storage } = services;
      const { publish, force: isForced, ...rest } = body;
      const request: VersionRequest = rest;
      const toPublish = publish ?? (await publishesOnCreate(storage.fork(), principal.accountId));
      if (toPublish && !hasScope(principal.scopes, 'version:publish')) throw forbidden('version:publish');
      const left = !toPublish
        ? []
        : await leaveBacklogs(services, principal.accountId, isForced === true, async (live) =>
            composeSnapshot(live, await loadDraft(storage.fork(), principal.accountId, 'destinations'), request),
          );
      const { version, liveId, outboxId } = await edit(services, principal, async (editing) => {
        if (toPublish) {
          const limits = { secretBox, documentBytesMax: publishing.documentBytesMax() };
          const published = await publishDraft(editing, request, limits);
          recordLeft(editing, published.version.id, left);
          return { ...published, liveId: published.version.id };
        }
        const row = await createVersion(editing, request, { secretBox, toPublish });
        return { version: row, liveId: await liveVersionId(editing.em, principal.accountId), outboxId: undefined };
      });
      if (outboxId !== undefined) await publishing.whenApplied(outboxId);
      return { ...viewVersion(version, liveId), ...(left.length === 0 ? {} : { backlogsLeft: left }) };
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
    method: 'DELETE',
    path: '/rest/v1/versions/:id',
    scope: 'version:delete',
    id: 'deleteVersion',
    tag: 'Versions',
    summary: 'Delete an old version; neither the one that is live nor the newest one',
    reply: Type.Object({ deleted: Type.Literal(true) }),
    handle: ({ params, principal }, services) =>
      edit(services, principal, async ({ em, now }) => {
        const { id, versionNumber } = await deleteVersion(em, principal.accountId, params['id'] ?? '');
        recordAudit(em, principal, { action: 'version.delete', entityId: id, details: { versionNumber } }, now);
        return { deleted: true };
      }),
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/versions/:id/publish',
    scope: 'version:publish',
    id: 'publishVersion',
    isCostly: true,
    tag: 'Versions',
    summary: 'Make a version live, an older one too; answers once every process runs it or 2 seconds have passed',
    // Clients that know of no body send what they like.
    body: Type.Object({ force }),
    bodyOptional: true,
    reply: publishedReply,
    async handle({ params, body, principal }, services: CoreServices & VersionServices) {
      const { publishing, storage } = services;
      const { accountId } = principal;
      const id = params['id'] ?? '';
      const left = await leaveBacklogs(
        services,
        accountId,
        body.force === true,
        async (live) => (await versionContent(storage.fork(), accountId, id, 'destinations')) ?? live,
      );
      const { version, outboxId } = await edit(services, principal, async (editing) => {
        const published = await publishVersion(editing, id, publishing.documentBytesMax());
        recordLeft(editing, published.version.id, left);
        return published;
      });
      if (outboxId !== undefined) await publishing.whenApplied(outboxId);
      return { ...viewVersion(version, version.id), ...(left.length === 0 ? {} : { backlogsLeft: left }) };
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/versions/:id/backlogs',
    scope: 'version:find',
    id: 'getVersionBacklogs',
    tag: 'Versions',
    summary: 'What waits for destinations that a version, or the draft, would remove or disable',
    reply: Type.Object({ entities: Type.Array(backlogLeft) }),
    async handle({ params, principal }, services: CoreServices & VersionServices) {
      const em = services.storage.fork();
      const next = await resolveSnapshot(em, principal.accountId, params['id'] ?? '');
      return { entities: await findBacklogsLeft(services, await liveContent(em, principal.accountId), next) };
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/versions/:id/rollout',
    scope: 'version:find',
    id: 'getVersionRollout',
    tag: 'Versions',
    summary: 'How many processes run the version that is live, and since when',
    reply: rolloutReply,
    async handle({ params, principal }, { storage, leases }: CoreServices & VersionServices) {
      const em = storage.fork();
      const row = await findVersion(em, principal.accountId, params['id'] ?? '');
      if (row === undefined) throw notFound('version');
      if (row.id !== (await liveVersionId(em, principal.accountId))) {
        return { isLive: false, sentAt: null, processes: [] };
      }
      return readRollout(em, principal.accountId, leases);
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
      const compared = { id: params['id'] ?? '', against: query.against };
      const { baseline, target } = await compareSnapshots(storage.fork(), principal.accountId, compared);
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
      const compared = { id: params['id'] ?? '', against: query.against };
      const { baseline, target } = await compareSnapshots(storage.fork(), principal.accountId, compared);
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

/**
 * What waits for destinations that get nothing more once `next` is live. Throws a 409 where something does and nobody
 * said that it may. Asked before the transaction: the log may take its time.
 */
async function leaveBacklogs(
  services: CoreServices & VersionServices,
  accountId: string,
  isForced: boolean,
  next: (live: Snapshot) => Promise<Snapshot>,
): Promise<BacklogLeft[]> {
  const live = await liveContent(services.storage.fork(), accountId, 'destinations');
  const isGuarded = services.guardsBacklogs && !isForced;
  const found = await findBacklogsLeft(services, live, await next(live)).catch((error: unknown) => {
    // Who publishes in any case does not wait for a log that is away.
    if (isGuarded) throw error;
    return [];
  });
  const refusal = isGuarded ? refusalFor(found) : undefined;
  if (refusal !== undefined) throw refusal;
  return found.filter(({ unsentSince }) => unsentSince !== null);
}

function recordLeft({ em, principal, now }: Editing, versionId: string, left: readonly BacklogLeft[]): void {
  if (left.length === 0) return;
  recordAudit(em, principal, { action: 'version.leave-backlogs', entityId: versionId, details: { left } }, now);
}
