import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { conflict } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { edit } from '../draft/edit-entities.ts';
import { publishing } from '../publishing/publishing-service.ts';
import { allowlistFields } from '../versions/allowlist-fields.ts';
import {
  backlogs,
  force,
  leaveBacklogsOfDraft,
  leaveBacklogsOfVersion,
  recordLeft,
} from '../versions/leave-backlogs.ts';
import { publishDraft } from '../versions/publish-draft.ts';
import { publishVersion } from '../versions/publish-version.ts';
import { versionName, versionNotes, versionReply, viewVersion } from '../versions/version-view.ts';

const client = 'platform-library';

/** Version endpoints. The platform library only has published versions. */
export const versionEndpoints = [
  defineEndpoint({
    client,
    method: 'POST',
    path: '/rest/v1/versions',
    scope: 'version:publish',
    id: 'libraryCreateVersion',
    uses: { publishing, ...backlogs },
    isCostly: true,
    tag: 'Versions',
    summary:
      'Publish the draft, or the part of it that the allowlists name; 409 if that would change nothing. While another ' +
      'publish is in progress, the request waits for it',
    body: Type.Object(
      {
        name: Type.Optional(nullable(versionName)),
        notes: Type.Optional(nullable(versionNotes)),
        force,
        ...allowlistFields(({ name }) => name !== 'tagManagers'),
      },
      { additionalProperties: false },
    ),
    bodyOptional: true,
    reply: versionReply,
    async handle({ body, principal }, services) {
      const { secretBox, publishing } = services;
      const { force: isForced, ...request } = body;
      const limits = { secretBox, documentBytesMax: publishing.documentBytesMax() };
      const { left, confirm } = await leaveBacklogsOfDraft(services, principal.accountId, isForced === true, request);
      const { version, outboxId } = await edit(services, principal, async (editing) => {
        await confirm(editing.em);
        const published = await publishDraft(editing, request, limits);
        recordLeft(editing, published.version.id, left);
        return published;
      });
      if (outboxId !== undefined) await publishing.whenApplied(outboxId);
      return viewVersion(version, version.id);
    },
  }),
  defineEndpoint({
    client,
    method: 'POST',
    path: '/rest/v1/versions/{id}/publish',
    scope: 'version:publish',
    id: 'libraryPublishVersion',
    uses: { publishing, ...backlogs },
    isCostly: true,
    tag: 'Versions',
    summary: 'Make an older version live again; 409 for the live version',
    body: Type.Object({ force }),
    bodyOptional: true,
    reply: versionReply,
    async handle({ params, body, principal }, services) {
      const { publishing } = services;
      const { accountId } = principal;
      const { left, confirm } = await leaveBacklogsOfVersion(services, accountId, body.force === true, params.id);
      const { version, outboxId } = await edit(services, principal, async (editing) => {
        await confirm(editing.em);
        const published = await publishVersion(editing, params.id, publishing.documentBytesMax());
        recordLeft(editing, published.version.id, left);
        return published;
      });
      if (outboxId === undefined) throw conflict(`version ${version.versionNumber} is already live`);
      await publishing.whenApplied(outboxId);
      return viewVersion(version, version.id);
    },
  }),
];
