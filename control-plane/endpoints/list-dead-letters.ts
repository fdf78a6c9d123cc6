import { Type } from 'typebox';
import { findEntity } from '../draft/entity-store.ts';
import { notFound } from '../http/api-error.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { pageOf, pageQuery } from '../http/pagination.ts';
import { deadLetterReply, viewDeadLetter } from '../replay/dead-letter-view.ts';
import { readTimeRange, timeField } from '../replay/time-range.ts';

export const listDeadLetters = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/destinations/:id/dead-letters',
  scope: 'destination:find',
  id: 'listDeadLetters',
  tag: 'Destinations',
  summary:
    'List the events the destination did not take, newest first; with a filter a page may hold fewer than limit and ' +
    'still have more behind it',
  query: Type.Object({
    ...pageQuery,
    reason: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1_000, description: 'Those of exactly this reason.' }),
    ),
    from: Type.Optional(timeField('Those last tried at this time or later.')),
    to: Type.Optional(timeField('Those last tried before this time.')),
  }),
  reply: pageOf(deadLetterReply),
  async handle({ params, query, actor }, { storage, paginator, replays }) {
    const { accountId } = actor;
    const { reason, from, to } = query;
    const id = params['id'] ?? '';
    const list = { list: 'dead-letters', accountId, filters: { id, reason, from, to } };
    const { limit, after } = paginator.read(query, list);
    const filter = { reason, ...readTimeRange(query) };
    const row = await findEntity(storage.fork(), accountId, 'destinations', id);
    if (row === undefined) throw notFound('destination');
    const beforeSeq = after === undefined ? undefined : Number(after[0]);
    const { letters, nextBeforeSeq } = await replays.deadLetters(row.id, { limit, beforeSeq, filter });
    return paginator.pageUpTo(
      list,
      letters.map(viewDeadLetter),
      nextBeforeSeq === undefined ? undefined : [nextBeforeSeq],
    );
  },
});
