import { Type } from 'typebox';
import { idList, nullable } from '../../shared/collections/define.ts';
import { edit } from '../draft/edit.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { createVersion as takeVersion } from '../versions/create-version.ts';
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
  summary: 'Take a version of the draft, or of the part of it the allowlists name',
  body: Type.Object(
    { name: Type.Optional(nullable(versionName)), notes: Type.Optional(nullable(versionNotes)), ...allowlists },
    { additionalProperties: false },
  ),
  bodyOptional: true,
  reply: versionReply,
  async handle({ body, actor }, services) {
    return edit(services, actor, async (editing) => {
      const row = await takeVersion(editing, body);
      return viewVersion(row, await liveVersionId(editing.em, actor.accountId));
    });
  },
});
