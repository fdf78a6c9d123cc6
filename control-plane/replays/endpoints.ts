import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { badRequest, found } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { readTimeRange } from '../api/time-range.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { withAudit } from '../draft/audited-effect.ts';
import { isUuid } from '../store/text.ts';
import { findDispatched, findLiveDispatched } from './find-dispatched.ts';
import {
  deadLetterDetailReply,
  deadLetterMembers,
  deadLetterReply,
  readReplayRequest,
  replayBody,
  replayReply,
  timeField,
  viewDeadLetter,
  viewDeadLetterDetail,
  viewReplay,
} from './replay-view.ts';
import { replays } from './replay-service.ts';
import type { ReplayService } from './replay-service.ts';

/** Filters of dead letters. */
const deadLetterFilter = {
  reason: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1_000, description: 'Only dead letters with exactly this reason.' }),
  ),
  message: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_000,
      description: 'Only dead letters with exactly this message of the platform.',
    }),
  ),
  from: Type.Optional(timeField('Only dead letters last tried at this time or later.')),
  to: Type.Optional(timeField('Only dead letters last tried before this time.')),
};

export const replayEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/destinations/{id}/dead-letters',
    scope: 'destination:find',
    id: 'listDeadLetters',
    audits: { action: 'dead-letter.list', entity: 'id' },
    personal: deadLetterMembers,
    uses: { replays },
    tag: 'Destinations',
    summary:
      'List the dead letters of the destination, newest first. With a filter, a page may have fewer entries than ' +
      'limit although more pages follow',
    query: Type.Object({
      ...pageQuery,
      ...deadLetterFilter,
    }),
    reply: pageOf(deadLetterReply),
    async handle({ params, query, principal }, { storage, paginator, replays }) {
      const { accountId } = principal;
      const { reason, message, from, to } = query;
      const { id } = params;
      const list = { list: 'dead-letters', accountId, filters: { id, reason, message, from, to } };
      const { limit, after } = paginator.read(query, list);
      const filter = { reason, message, ...readTimeRange(query) };
      const row = await found(findDispatched(storage.fork(), accountId, id), 'destination');
      const beforeSeq = after === undefined ? undefined : Number(after[0]);
      const { letters, nextBeforeSeq } = await replays.deadLetters(row.id, { limit, beforeSeq, filter });
      return paginator.pageUpTo(
        list,
        letters.map(viewDeadLetter),
        nextBeforeSeq === undefined ? undefined : [nextBeforeSeq],
      );
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/destinations/{id}/dead-letters/{seq}',
    scope: 'destination:find',
    id: 'getDeadLetter',
    audits: { action: 'dead-letter.read', entity: 'id' },
    personal: deadLetterMembers,
    uses: { replays },
    tag: 'Destinations',
    summary: "Read a dead letter by its position in the log, with the last request and the platform's answer",
    reply: deadLetterDetailReply,
    async handle({ params, principal }, { storage, replays }) {
      const row = await found(findDispatched(storage.fork(), principal.accountId, params.id), 'destination');
      const seq = /^[1-9]\d{0,14}$/.test(params.seq) ? Number(params.seq) : undefined;
      const letter = seq === undefined ? undefined : await replays.deadLetter(row.id, seq);
      return viewDeadLetterDetail(await found(Promise.resolve(letter), 'dead letter'));
    },
  }),
  defineEndpoint({
    method: 'DELETE',
    path: '/rest/v1/destinations/{id}/dead-letters',
    scope: 'destination:update',
    id: 'deleteDeadLetters',
    uses: { replays },
    tag: 'Destinations',
    summary:
      'Delete dead letters permanently: all, or by reason or time, oldest first. If there are many, one ' +
      'call deletes some of them; repeat it with the cursor while there are more',
    query: Type.Object({ ...deadLetterFilter, cursor: pageQuery.cursor }),
    reply: Type.Object({
      deleted: Type.Integer({ minimum: 0, description: 'By this call.' }),
      pagination: Type.Object({ nextCursor: nullable(Type.String()), hasMore: Type.Boolean() }),
    }),
    async handle({ params, query, principal }, services) {
      const { accountId } = principal;
      const { reason, message, from, to } = query;
      const { id } = params;
      const list = { list: 'deleted-dead-letters', accountId, filters: { id, reason, message, from, to } };
      const { after } = services.paginator.read(query, list);
      const [fromSeq, endSeq] = after ?? [];
      const range = fromSeq === undefined ? undefined : { fromSeq: Number(fromSeq), endSeq: Number(endSeq) };
      const filter = { reason, message, ...readTimeRange(query) };
      const { deleted, next } = await withAudit(services, principal, {
        audited: {
          action: 'destination.delete-dead-letters',
          collection: 'destinations',
          entityId: id,
          details: { reason: reason ?? null, message: message ?? null, from: from ?? null, to: to ?? null },
        },
        async check({ em }) {
          await found(findDispatched(em, accountId, id), 'destination');
        },
        effect: () => services.replays.deleteDeadLetters(id, { filter, range }),
      });
      const position = next === undefined ? undefined : [next.fromSeq, next.endSeq];
      return { deleted, pagination: services.paginator.pageUpTo(list, [], position).pagination };
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/destinations/{id}/replay',
    scope: 'destination:update',
    id: 'startReplay',
    uses: { replays },
    isCostly: true,
    tag: 'Destinations',
    summary:
      'Send dead letters, or a range of the log, to the destination again; each event keeps its idempotency key. ' +
      'The same request during such a replay returns that replay. Replayed events arrive after events that were ' +
      'delivered since, in their own order for each visitor, and after earlier events of a visitor that still wait',
    body: replayBody,
    reply: replayReply,
    async handle({ params, body, principal }, services) {
      const { accountId } = principal;
      const request = readReplayRequest(body);
      const { id } = params;
      const check = async ({ em }: Editing): Promise<void> => {
        const row = await found(findDispatched(em, accountId, id), 'destination');
        const live = await findLiveDispatched(em, row);
        if (live === undefined) throw badRequest('the destination is not in the live version: publish it first');
        if (live['status'] !== 'Enabled') {
          throw badRequest('the destination is Disabled in the live version: enable and publish it first');
        }
      };
      const job = await withAudit(services, principal, {
        audited: {
          action: 'destination.replay',
          collection: 'destinations',
          entityId: id,
          details: { what: request.what },
        },
        check,
        effect: () => services.replays.start(accountId, id, request),
      });
      return viewReplay(job);
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/destinations/{id}/replays',
    scope: 'destination:find',
    id: 'listReplays',
    uses: { replays },
    tag: 'Destinations',
    summary: 'List the replays of a destination, newest first; ended replays for 30 days, the last 50 at most',
    query: Type.Object(pageQuery),
    reply: pageOf(replayReply),
    async handle({ params, query, principal }, { storage, paginator, replays }) {
      const { accountId } = principal;
      const { id } = params;
      const list = { list: 'replays', accountId, filters: { id } };
      const { limit, after } = paginator.read(query, list);
      const row = await found(findDispatched(storage.fork(), accountId, id), 'destination');
      const jobs = await replays.list(row.id);
      // Ids are made in the order of time.
      const older = after === undefined ? jobs : jobs.filter((job) => job.id < String(after[0]));
      return paginator.page(list, limit, older.slice(0, limit + 1), (job) => [job.id], viewReplay);
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/destinations/{id}/replays/{replayId}',
    scope: 'destination:find',
    id: 'getReplay',
    uses: { replays },
    tag: 'Destinations',
    summary: 'Read the progress of a replay',
    reply: replayReply,
    async handle({ params, principal }, { storage, replays }) {
      const row = await found(findDispatched(storage.fork(), principal.accountId, params.id), 'destination');
      const { replayId } = params;
      return viewReplay(await found(findReplay(replays, row.id, replayId), 'replay'));
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/destinations/{id}/replays/{replayId}/cancel',
    scope: 'destination:update',
    id: 'cancelReplay',
    uses: { replays },
    isCostly: true,
    tag: 'Destinations',
    summary:
      'End a replay; events that the replay has already queued for the destination are sent. Has no effect on an ended replay',
    reply: replayReply,
    async handle({ params, principal }, services) {
      const { id, replayId } = params;
      await found(findDispatched(services.storage.fork(), principal.accountId, id), 'destination');
      await found(findReplay(services.replays, id, replayId), 'replay');
      const canceled = withAudit(services, principal, {
        audited: { action: 'destination.cancel-replay', collection: 'destinations', entityId: id },
        check: () => Promise.resolve(),
        effect: () => services.replays.cancel(id, replayId),
      });
      return viewReplay(await found(canceled, 'replay'));
    },
  }),
];

/** Replay ids are UUIDs, so the store is not read for any other text. */
async function findReplay(replays: ReplayService, destinationId: string, replayId: string) {
  return isUuid(replayId) ? replays.find(destinationId, replayId) : undefined;
}
