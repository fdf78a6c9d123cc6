import { Type } from 'typebox';
import { badRequest } from '../http/api-error.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { pageOf, pageQuery } from '../http/pagination.ts';
import { exportVisitor } from '../visitors/export-visitor.ts';
import { visitorReply } from '../visitors/visitor-view.ts';

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, description }));

export const listVisitors = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/visitors',
  scope: 'visitor:find',
  id: 'listVisitors',
  tag: 'Visitors',
  summary: 'Find a visitor by exactly one of userId, externalId and email',
  query: Type.Object({
    ...pageQuery,
    userId: text("The visitor's own id, or an alias of it."),
    externalId: text("The customer's id."),
    email: text('In any spelling.'),
  }),
  reply: pageOf(visitorReply),
  async handle({ query, actor }, { pool, paginator }) {
    const { accountId } = actor;
    const { userId, externalId, email } = query;
    const keys = [
      ...(userId === undefined ? [] : [{ id: userId }]),
      ...(externalId === undefined ? [] : [{ externalId }]),
      ...(email === undefined ? [] : [{ email }]),
    ];
    const [key] = keys;
    if (key === undefined || keys.length > 1)
      throw badRequest('exactly one of userId, externalId and email is required');
    const list = { list: 'visitors', accountId, filters: { userId, externalId, email } };
    const { limit } = paginator.read(query, list);
    const visitor = await exportVisitor(pool, accountId, key);
    return paginator.page(
      list,
      limit,
      visitor === undefined ? [] : [visitor],
      () => [],
      (found) => found,
    );
  },
});
