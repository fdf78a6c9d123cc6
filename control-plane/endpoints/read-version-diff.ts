import { Type } from 'typebox';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { diffReply } from '../versions/diff-reply.ts';
import { diffSnapshots } from '../versions/diff.ts';
import { resolveSnapshot } from '../versions/resolve-snapshot.ts';
import { liveContent } from '../versions/version-store.ts';

const against = Type.Union([Type.String({ format: 'uuid' }), Type.Literal('draft')], {
  title: 'the id of a version or draft',
});

export const readVersionDiff = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/versions/:id/diff',
  scope: 'version:find',
  id: 'getVersionDiff',
  tag: 'Versions',
  summary: 'What a version, or the draft, changes against another; by default against the one that is live',
  query: Type.Object({ against: Type.Optional(against) }),
  reply: diffReply,
  async handle({ params, query, actor }, { storage }) {
    const em = storage.fork();
    const { accountId } = actor;
    const target = await resolveSnapshot(em, accountId, params['id'] ?? '');
    const baseline =
      query.against === undefined
        ? await liveContent(em, accountId)
        : await resolveSnapshot(em, accountId, query.against);
    return diffSnapshots(baseline, target);
  },
});
