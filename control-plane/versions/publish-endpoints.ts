import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { publishesOnCreate } from '../account/endpoints.ts';
import { badRequest, forbidden } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { edit } from '../draft/edit-entities.ts';
import { liveVersionId } from '../draft/live-version.ts';
import { hasScope } from '../keys/scopes.ts';
import { publishing, leases } from '../publishing/publishing-service.ts';
import { quarantine } from '../quarantine/quarantine-service.ts';
import { applyAndRelease, rulesToRelease } from './release-held.ts';
import { logFigures } from '../health/log-figures.ts';
import { allowlistFields } from './allowlist-fields.ts';
import { createVersion } from './create-version.ts';
import type { VersionRequest } from './create-version.ts';
import { takeOutOfDraft } from './undo-changes.ts';
import { undoReply, versionName, versionNotes, versionReply, viewVersion } from './version-view.ts';
import { backlogAgeMs, backlogLeft, findBacklogsLeft } from './backlogs-left.ts';
import { backlogs, force, leaveBacklogsOfDraft, leaveBacklogsOfVersion, recordLeft } from './leave-backlogs.ts';
import { publishDraft } from './publish-draft.ts';
import { publishVersion } from './publish-version.ts';
import { readRollout, rolloutReply } from './read-rollout.ts';
import { liveContent, resolveSnapshot, requireVersion } from './version-store.ts';

const allowlists = allowlistFields(({ allowlisted }) => allowlisted);

const releaseQuarantine = Type.Optional(
  nullable(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      maxItems: 20,
      uniqueItems: true,
      description:
        'Rules whose quarantined events are released once every process runs the version, so that the version judges them: one call fixes a rule ' +
        'and releases its quarantined events. Ids as in `GET /rest/v1/quarantine`. Needs `quarantine:release` too.',
    }),
  ),
);

const revertDraft = Type.Optional(
  nullable(
    Type.Boolean({
      description:
        'For a rollback: also revert the changes of the version that was live in the draft, so that the next publish does not bring ' +
        'them back. Later edits of the draft stay.',
    }),
  ),
);

const publishedReply = Type.Object({
  ...versionReply.properties,
  draftReverted: Type.Optional(
    Type.Object({
      ...undoReply.properties,
      keptCount: Type.Integer({
        minimum: 0,
        description: 'Entities that were edited in the draft since, and keep these edits.',
      }),
    }),
  ),
  quarantineReleased: Type.Optional(
    Type.Array(
      Type.Object({
        rule: Type.String(),
        released: Type.Integer({ minimum: 0 }),
        isComplete: Type.Boolean({
          description:
            'False if more than 10,000 events wait, or not every process runs the version yet: release the rest with `POST /rest/v1/quarantine/release`.',
        }),
      }),
      { description: 'Events released for each rule in `releaseQuarantine`; absent if no rule was named.' },
    ),
  ),
  backlogsLeft: Type.Optional(
    Type.Array(backlogLeft, { description: 'Events that were left unsent; absent if there are none.' }),
  ),
});

/** Endpoints that make versions live. */
export const publishEndpoints = [
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/versions',
    scope: 'version:create',
    id: 'createVersion',
    uses: { publishing, quarantine, ...backlogs },
    isCostly: true,
    tag: 'Versions',
    summary:
      'Create a version of the draft, or of the part that the allowlists name, and publish it if `publish` is set',
    body: Type.Object(
      {
        name: Type.Optional(nullable(versionName)),
        notes: Type.Optional(nullable(versionNotes)),
        publish: Type.Optional(
          nullable(
            Type.Boolean({
              description:
                'true: the version goes live at once, for which the key needs the scope version:publish; 409 if it would change nothing. null or absent: `publishOnCreate` of the account decides.',
            }),
          ),
        ),
        force,
        releaseQuarantine,
        ...allowlists,
      },
      { additionalProperties: false },
    ),
    bodyOptional: true,
    reply: publishedReply,
    async handle({ body, principal }, services) {
      const { publishing, secretBox, storage } = services;
      const { publish, force: isForced, releaseQuarantine: rules, ...rest } = body;
      const request: VersionRequest = rest;
      const toPublish = publish ?? (await publishesOnCreate(storage.fork(), principal.accountId));
      if (toPublish && !hasScope(principal.scopes, 'version:publish')) throw forbidden('version:publish');
      const toRelease = rulesToRelease(principal, rules);
      if (toRelease.length > 0 && !toPublish) throw badRequest('releaseQuarantine needs publish: true');
      const checked = toPublish
        ? await leaveBacklogsOfDraft(services, principal.accountId, isForced === true, request)
        : undefined;
      const { version, liveId, outboxId } = await edit(services, principal, async (editing) => {
        if (checked !== undefined) {
          await checked.confirm(editing.em);
          const limits = { secretBox, documentBytesMax: publishing.documentBytesMax() };
          const published = await publishDraft(editing, request, limits);
          recordLeft(editing, published.version.id, checked.left);
          return { ...published, liveId: published.version.id };
        }
        const row = await createVersion(editing, request, { secretBox, toPublish });
        return { version: row, liveId: await liveVersionId(editing.em, principal.accountId), outboxId: undefined };
      });
      const released = await applyAndRelease(services, principal, outboxId, toRelease);
      const left = checked?.left ?? [];
      return { ...viewVersion(version, liveId), ...(left.length === 0 ? {} : { backlogsLeft: left }), ...released };
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/versions/{id}/publish',
    scope: 'version:publish',
    id: 'publishVersion',
    uses: { publishing, quarantine, ...backlogs },
    isCostly: true,
    tag: 'Versions',
    summary:
      'Make a version live, also an older one; the answer is sent once every process runs it, or after 2 seconds',
    // The body is optional: some clients do not know it.
    body: Type.Object({ force, revertDraft, releaseQuarantine }),
    bodyOptional: true,
    reply: publishedReply,
    async handle({ params, body, principal }, services) {
      const { publishing } = services;
      const { accountId } = principal;
      const { id } = params;
      const toRelease = rulesToRelease(principal, body.releaseQuarantine);
      const { left, confirm } = await leaveBacklogsOfVersion(services, accountId, body.force === true, id);
      const { version, outboxId, draftReverted } = await edit(services, principal, async (editing) => {
        const before = body.revertDraft === true ? await liveContent(editing.em, accountId) : undefined;
        await confirm(editing.em);
        const published = await publishVersion(editing, id, publishing.documentBytesMax());
        recordLeft(editing, published.version.id, left);
        if (before === undefined || published.outboxId === undefined) return { ...published, draftReverted: undefined };
        return { ...published, draftReverted: await takeOutOfDraft(editing, before) };
      });
      const released = await applyAndRelease(services, principal, outboxId, toRelease);
      return {
        ...viewVersion(version, version.id),
        ...(draftReverted && { draftReverted }),
        ...(left.length === 0 ? {} : { backlogsLeft: left }),
        ...released,
      };
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/versions/{id}/backlogs',
    scope: 'version:find',
    id: 'getVersionBacklogs',
    uses: { logFigures, backlogAgeMs },
    tag: 'Versions',
    summary: 'Events that wait for destinations that a version, or the draft, would remove or disable',
    reply: Type.Object({ entities: Type.Array(backlogLeft) }),
    async handle({ params, principal }, services) {
      const em = services.storage.fork();
      const next = await resolveSnapshot(em, principal.accountId, params.id);
      return { entities: await findBacklogsLeft(services, await liveContent(em, principal.accountId), next) };
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/versions/{id}/rollout',
    scope: 'version:find',
    id: 'getVersionRollout',
    uses: { leases },
    tag: 'Versions',
    summary: 'How many processes run the version that is live, and since when',
    reply: rolloutReply,
    async handle({ params, principal }, { storage, leases }) {
      const em = storage.fork();
      const row = await requireVersion(em, principal.accountId, params.id);
      if (row.id !== (await liveVersionId(em, principal.accountId))) {
        return { isLive: false, sentAt: null, processes: [] };
      }
      return readRollout(em, principal.accountId, leases);
    },
  }),
];
