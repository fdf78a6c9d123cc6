import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { conflict } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { edit } from '../draft/edit-entities.ts';
import { publishing } from '../publishing/publishing-service.ts';
import { allowlistFields } from '../versions/allowlist-fields.ts';
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
    uses: { publishing },
    tag: 'Versions',
    summary:
      'Publish the draft, or the part of it that the allowlists name; 409 if that would change nothing. While another ' +
      'publish is in progress, the request waits for it',
    body: Type.Object(
      {
        name: Type.Optional(nullable(versionName)),
        notes: Type.Optional(nullable(versionNotes)),
        ...allowlistFields(({ name }) => name !== 'tagManagers'),
      },
      { additionalProperties: false },
    ),
    bodyOptional: true,
    reply: versionReply,
    async handle({ body, principal }, services) {
      const { secretBox, publishing } = services;
      const limits = { secretBox, documentBytesMax: publishing.documentBytesMax() };
      const { version, outboxId } = await edit(services, principal, (editing) => publishDraft(editing, body, limits));
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
    uses: { publishing },
    isCostly: true,
    tag: 'Versions',
    summary: 'Make an older version live again; 409 for the live version',
    reply: versionReply,
    async handle({ params, principal }, services) {
      const { publishing } = services;
      const { version, outboxId } = await edit(services, principal, (editing) =>
        publishVersion(editing, params.id, publishing.documentBytesMax()),
      );
      if (outboxId === undefined) throw conflict(`version ${version.versionNumber} is already live`);
      await publishing.whenApplied(outboxId);
      return viewVersion(version, version.id);
    },
  }),
];
