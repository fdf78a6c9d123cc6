import { edit } from '../draft/edit.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { publishVersion as makeLive } from '../versions/publish-version.ts';
import { versionReply, viewVersion } from '../versions/version-view.ts';

export const publishVersion = defineEndpoint({
  method: 'POST',
  path: '/rest/v1/versions/:id/publish',
  scope: 'version:publish',
  id: 'publishVersion',
  tag: 'Versions',
  summary: 'Make a version live, an older one too; answers once every process runs it or 2 seconds have passed',
  reply: versionReply,
  async handle({ params, actor }, services) {
    const { pushStation } = services;
    const { version, outboxId } = await edit(services, actor, (editing) =>
      makeLive(editing, params['id'] ?? '', pushStation.documentBytesMax()),
    );
    if (outboxId !== undefined) await pushStation.whenApplied(outboxId);
    return viewVersion(version, version.id);
  },
});
