import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import type { CoreServices, Principal } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { edit } from '../draft/edit-entities.ts';
import { approvalStatus, decideApproval, listApprovals, readPresent, requestApproval } from './approvals.ts';
import type { ApprovalRow, Present } from './approvals.ts';
import { listPublications, publicationReply, viewPublication } from './publications.ts';

const instant = Type.String({ format: 'date-time' });
const text = Type.String();

const userBehind = Type.String({
  description:
    'E-mail address of the user who acted, or who created the API key that acted. null: the user of the key is not known, ' +
    'for example if the key was created from the command line.',
});

const approvalReply = Type.Object({
  versionId: Type.String({ format: 'uuid' }),
  versionNumber: Type.Integer({ minimum: 1 }),
  versionName: text,
  status: Type.Enum(['pending', 'approved', 'rejected', 'void', 'published'], {
    description:
      'void: the draft changed, or another version went live, after the request. published: the approval was used.',
  }),
  voidBecause: nullable(text),
  requestedAt: instant,
  requestedById: text,
  requestedByName: text,
  requestedByUser: nullable(userBehind),
  comment: nullable(text),
  decidedAt: nullable(instant),
  decidedById: nullable(text),
  decidedByName: nullable(text),
  decidedByUser: nullable(userBehind),
  decisionComment: nullable(text),
});

const body = Type.Object(
  { comment: Type.Optional(nullable(Type.String({ maxLength: 2_000 }))) },
  { additionalProperties: false },
);

/** Approvals of versions before they become live, and the history of live versions. */
export const approvalEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/publications',
    scope: 'version:list',
    id: 'listPublications',
    tag: 'Versions',
    summary: 'Which version was live when, and who published it; the newest 10,000 entries are kept',
    query: Type.Object(pageQuery),
    reply: pageOf(publicationReply),
    async handle({ query, principal: { accountId } }, { storage, paginator }) {
      const list = { list: 'publications', accountId, filters: {} };
      const { limit, after } = paginator.read(query, list);
      const rows = await listPublications(storage.fork(), accountId, { limit: limit + 1, after });
      return paginator.page(list, limit, rows, ({ id }) => [Number(id)], viewPublication);
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/approvals',
    scope: 'version:list',
    id: 'listApprovals',
    tag: 'Versions',
    summary: 'Requests for the approval of versions, newest first, one for each version',
    query: Type.Object({
      ...pageQuery,
      versionId: Type.Optional(Type.String({ format: 'uuid', description: 'The request of this version only.' })),
    }),
    reply: pageOf(approvalReply),
    async handle({ query, principal: { accountId } }, { storage, paginator }) {
      const { versionId } = query;
      const list = { list: 'approvals', accountId, filters: { versionId } };
      const { limit, after } = paginator.read(query, list);
      const em = storage.fork();
      const rows = await listApprovals(em, accountId, versionId, { limit: limit + 1, after });
      // The draft can be large, so it is read only if a change of it could void one of the requests.
      const isNeeded = rows.some(({ usedAt }) => usedAt === null);
      const present = isNeeded ? await readPresent(em, accountId) : { liveId: undefined, draftHash: '' };
      return paginator.page(list, limit, rows, approvalPosition, (row) => viewApproval(row, present));
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/versions/{id}/request-approval',
    scope: 'version:create',
    id: 'requestApproval',
    tag: 'Versions',
    summary:
      "Request that another key or user approves a version; replaces the version's earlier request. A change of the draft, or " +
      'another version that goes live, voids the request',
    body,
    bodyOptional: true,
    reply: approvalReply,
    handle: ({ params, body: { comment }, principal }, services) =>
      answered(services, principal, (editing) => requestApproval(editing, params.id, comment ?? null)),
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/versions/{id}/approve',
    scope: 'version:approve',
    id: 'approveVersion',
    tag: 'Versions',
    summary:
      'Approve a version that another key or user created and requested approval for; it can then be published once',
    body,
    bodyOptional: true,
    reply: approvalReply,
    handle: ({ params, body: { comment }, principal }, services) =>
      answered(services, principal, (editing) => decideApproval(editing, params.id, 'approved', comment ?? null)),
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/versions/{id}/reject',
    scope: 'version:approve',
    id: 'rejectVersion',
    tag: 'Versions',
    summary: 'Reject the request for the approval of a version',
    body,
    bodyOptional: true,
    reply: approvalReply,
    handle: ({ params, body: { comment }, principal }, services) =>
      answered(services, principal, (editing) => decideApproval(editing, params.id, 'rejected', comment ?? null)),
  }),
];

function answered(
  services: CoreServices,
  principal: Principal,
  work: (editing: Parameters<Parameters<typeof edit>[2]>[0]) => Promise<ApprovalRow>,
): Promise<Record<string, unknown>> {
  return edit(services, principal, async (editing) => {
    const row = await work(editing);
    return viewApproval(row, await readPresent(editing.em, principal.accountId));
  });
}

function approvalPosition({ requestedAt, versionId }: ApprovalRow): readonly [number, string] {
  return [new Date(requestedAt).getTime(), versionId];
}

function viewApproval(row: ApprovalRow, present: Present): Record<string, unknown> {
  const { versionId, versionNumber, versionName, requestedById, requestedByName, requestedByUser, comment } = row;
  const { decidedAt, decidedById, decidedByName, decidedByUser, decisionComment } = row;
  return {
    versionId,
    versionNumber,
    versionName,
    ...approvalStatus(row, present),
    requestedAt: new Date(row.requestedAt).toISOString(),
    requestedById,
    requestedByName,
    requestedByUser,
    comment,
    decidedAt: decidedAt === null ? null : new Date(decidedAt).toISOString(),
    decidedById,
    decidedByName,
    decidedByUser,
    decisionComment,
  };
}
