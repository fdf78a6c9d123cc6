import { Type } from 'typebox';
import { idList, nullable } from '../../shared/collections/define.ts';
import { edit } from '../draft/edit.ts';
import { forbidden } from '../http/api-error.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { hasScope } from '../keys/scopes.ts';
import { createVersion as takeVersion } from '../versions/create-version.ts';
import { publishVersion as makeLive } from '../versions/publish-version.ts';
import { allowlistCollections } from '../versions/scoped-snapshot.ts';
import { versionNotes, versionName } from '../versions/version-texts.ts';
import { liveVersionId } from '../versions/version-store.ts';
import { versionReply, viewVersion } from '../versions/version-view.ts';

const idsMax = 10_000;
const allowlists = Object.fromEntries(
  Object.entries(allowlistCollections).map(([name, collection]) => [
    name,
    Type.Optional(nullable(Type.Array(Type.String(), { ...idList(idsMax), description: `Ids of ${collection}.` }))),
  ]),
);

export const createVersion = defineEndpoint({
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
              'True makes the version live at once, for which the key needs the scope version:publish; 409 where it would change nothing.',
          }),
        ),
      ),
      ...allowlists,
    },
    { additionalProperties: false },
  ),
  bodyOptional: true,
  reply: versionReply,
  async handle({ body, actor }, services) {
    const { pushStation, secretBox } = services;
    const { publish, ...request } = body;
    const toPublish = publish === true;
    if (toPublish && !hasScope(actor.scopes, 'version:publish')) throw forbidden('version:publish');
    const { version, liveId, outboxId } = await edit(services, actor, async (editing) => {
      const row = await takeVersion(editing, request, { secretBox, toPublish });
      if (!toPublish) {
        return { version: row, liveId: await liveVersionId(editing.em, actor.accountId), outboxId: undefined };
      }
      const published = await makeLive(editing, row.id, pushStation.documentBytesMax());
      return { ...published, liveId: row.id };
    });
    if (outboxId !== undefined) await pushStation.whenApplied(outboxId);
    return viewVersion(version, liveId);
  },
});
