import { Type } from 'typebox';
import { nullable } from '../../shared/collections/define.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { edit } from '../draft/edit.ts';
import { notFound } from '../http/api-error.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { versionName, versionNotes } from '../versions/version-texts.ts';
import { findVersion, liveVersionId, renameVersion } from '../versions/version-store.ts';
import { versionReply, viewVersion } from '../versions/version-view.ts';

const ignored = Type.Optional(Type.Unknown({ description: 'Read-only: accepted and ignored.' }));
const readOnly = Object.fromEntries(Object.keys(versionReply.properties).map((field) => [field, ignored]));

export const updateVersion = defineEndpoint({
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
  async handle({ params, body, actor }, services) {
    const { name, notes } = body as { readonly name?: string; readonly notes?: string | null };
    return edit(services, actor, async ({ em, now }) => {
      const row = await findVersion(em, actor.accountId, params['id'] ?? '');
      if (row === undefined) throw notFound('version');
      renameVersion(row, name ?? row.name, notes === undefined ? (row.notes ?? null) : notes);
      recordAudit(em, actor, { action: 'version.update', entityId: row.id }, now);
      return viewVersion(row, await liveVersionId(em, actor.accountId));
    });
  },
});
