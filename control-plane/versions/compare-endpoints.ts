import { Type } from 'typebox';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { emptySnapshot } from '../draft/snapshot.ts';
import { privacyReportEndpoint } from './privacy-report-endpoint.ts';
import { changesReply, diffReply } from './version-view.ts';
import { diffSnapshots } from './diff.ts';
import { hasScope } from '../keys/scopes.ts';
import { lastActors, unknownActor } from './last-actors.ts';
import { listChanges, namesIn } from './list-changes.ts';
import { compareSnapshots, maskSnapshot, versionContent, requireVersion } from './version-store.ts';

const against = Type.Union([Type.String({ format: 'uuid' }), Type.Literal('draft')], {
  title: 'the id of a version or draft',
});

/** Endpoints that show the content of versions and their differences. */
export const compareEndpoints = [
  privacyReportEndpoint,
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/versions/{id}/snapshot',
    scope: 'version:find',
    id: 'getVersionSnapshot',
    tag: 'Versions',
    summary: 'The whole configuration of a version, secrets masked',
    reply: Type.Object({
      id: Type.String({ format: 'uuid' }),
      versionNumber: Type.Integer({ minimum: 1 }),
      jsonContent: Type.Record(Type.String(), Type.Array(Type.Record(Type.String(), Type.Unknown()))),
    }),
    async handle({ params, principal }, { storage }) {
      const em = storage.fork();
      const row = await requireVersion(em, principal.accountId, params.id);
      const content = (await versionContent(em, principal.accountId, row.id)) ?? emptySnapshot;
      return { id: row.id, versionNumber: row.versionNumber, jsonContent: maskSnapshot(content) };
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/versions/{id}/diff',
    scope: 'version:find',
    id: 'getVersionDiff',
    tag: 'Versions',
    summary: 'Compare a version, or the draft, with another version; by default with the live one',
    query: Type.Object({ against: Type.Optional(against) }),
    reply: diffReply,
    async handle({ params, query, principal }, { storage }) {
      const compared = { id: params.id, against: query.against };
      const { baseline, target } = await compareSnapshots(storage.fork(), principal.accountId, compared);
      return diffSnapshots(baseline, target);
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/versions/{id}/changes',
    scope: 'version:find',
    id: 'getVersionChanges',
    tag: 'Versions',
    summary: 'The same as the diff, field by field, secrets masked',
    query: Type.Object({ against: Type.Optional(against) }),
    reply: changesReply,
    async handle({ params, query, principal }, { storage }) {
      const compared = { id: params.id, against: query.against };
      const { baseline, target } = await compareSnapshots(storage.fork(), principal.accountId, compared);
      const em = storage.fork();
      const changes = listChanges(baseline, target);
      const showsActors = params.id === 'draft' && hasScope(principal.scopes, 'audit:list');
      const actors = showsActors ? await lastActors(em, principal.accountId, changes) : undefined;
      return {
        names: namesIn(changes, [target, baseline]),
        changes: changes.map((change) => ({ ...change, ...(actors?.(change) ?? unknownActor) })),
      };
    },
  }),
];
