import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import type { UserRow } from '../../shared/postgres/entities.ts';
import { conflict, found } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { edit } from '../draft/edit-entities.ts';
import { recheckStreams } from '../keys/endpoints.ts';
import { roleNames, roles } from '../keys/roles.ts';
import { refuseWiderRole } from '../sessions/endpoints.ts';
import { deleteLinksOfUser, endSessionsOfUser } from '../sessions/live-sessions.ts';
import { addUser, countSessions, findUser, isLastAdmin, listUsers } from './user-store.ts';

const instant = Type.String({ format: 'date-time' });
const role = Type.Enum([...roleNames], { description: 'The scopes of each role: `GET /rest/v1/roles`.' });
const email = Type.String({
  maxLength: 254,
  pattern: '^\\s*[^\\s@]+@[^\\s@]+\\s*$',
  description: 'Unique in the account, ignoring case.',
});

const userReply = Type.Object({
  id: Type.String({ format: 'uuid' }),
  email: Type.String(),
  role: Type.String(),
  createdAt: instant,
  signedInAt: nullable(instant),
  sessions: Type.Integer({ description: 'Browsers that are signed in now.' }),
});

const view = ({ id, email: address, role: given, createdAt, signedInAt }: UserRow, sessions: number) => ({
  id,
  email: address,
  role: given,
  createdAt: createdAt.toISOString(),
  signedInAt: signedInAt?.toISOString() ?? null,
  sessions,
});

const lastAdmin = 'this user is the last admin of the account: make another user an admin first';

const listRoles = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/roles',
  scope: undefined,
  id: 'listRoles',
  tag: 'Users',
  summary: 'List the roles of users, each with its scopes. API keys may be created with the same scopes',
  reply: Type.Object({
    entities: Type.Array(
      Type.Object({ id: role, label: Type.String(), summary: Type.String(), scopes: Type.Array(Type.String()) }),
    ),
  }),
  handle: async () => ({ entities: roleNames.map((id) => ({ id, ...roles[id] })) }),
});

const listAll = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/users',
  scope: 'user:list',
  id: 'listUsers',
  tag: 'Users',
  summary: 'List the people who sign in to the console, newest first',
  query: Type.Object(pageQuery),
  reply: pageOf(userReply),
  async handle({ query, principal }, { storage, paginator, now }) {
    const { accountId } = principal;
    const list = { list: 'users', accountId, filters: {} };
    const { limit, after } = paginator.read(query, list);
    const em = storage.fork();
    const rows = await listUsers(em, accountId, { limit: limit + 1, after });
    const sessions = await countSessions(em, accountId, now());
    return paginator.page(
      list,
      limit,
      rows,
      (row) => [row.createdAt.getTime(), row.id],
      (row) => view(row, sessions.get(row.id) ?? 0),
    );
  },
});

const createUser = defineEndpoint({
  method: 'POST',
  path: '/rest/v1/users',
  scope: 'user:create',
  id: 'createUser',
  tag: 'Users',
  summary:
    'Add a user, whose role may have no scope that the caller lacks. `POST /rest/v1/sign-in-links` creates the invitation',
  body: Type.Object({ email, role }, { additionalProperties: false }),
  reply: userReply,
  async handle({ body, principal }, services) {
    refuseWiderRole(principal, body.role);
    return edit(services, principal, async ({ em, now }) => {
      const row = await addUser(em, principal.accountId, body, now);
      recordAudit(em, principal, { action: 'user.create', entityId: row.id, details: { role: row.role } }, now);
      return view(row, 0);
    });
  },
});

const updateUser = defineEndpoint({
  method: 'PATCH',
  path: '/rest/v1/users/{id}',
  scope: 'user:update',
  id: 'updateUser',
  uses: { recheckStreams },
  tag: 'Users',
  summary:
    'Change the role of a user, from their next request on, and delete unused sign-in links. 409 for the last admin of an account',
  body: Type.Object({ role: Type.Optional(role) }, { additionalProperties: false }),
  reply: userReply,
  async handle({ params, body, principal }, services) {
    const { accountId } = principal;
    if (body.role !== undefined) refuseWiderRole(principal, body.role);
    const changed = await edit(services, principal, async ({ em, now }) => {
      const row = await found(findUser(em, accountId, params.id), 'user');
      if (body.role !== undefined && body.role !== row.role) {
        if (await isLastAdmin(em, row)) throw conflict(lastAdmin);
        const details = { from: row.role, to: body.role };
        row.role = body.role;
        await deleteLinksOfUser(em, accountId, row.id);
        recordAudit(em, principal, { action: 'user.update', entityId: row.id, details }, now);
      }
      return view(row, (await countSessions(em, accountId, now)).get(row.id) ?? 0);
    });
    await services.recheckStreams(accountId);
    return changed;
  },
});

const deleteUser = defineEndpoint({
  method: 'DELETE',
  path: '/rest/v1/users/{id}',
  scope: 'user:delete',
  id: 'deleteUser',
  uses: { recheckStreams },
  tag: 'Users',
  summary: 'Remove a user, who is signed out at once. 409 for the last admin of an account',
  reply: Type.Object({ deleted: Type.Literal(true) }),
  async handle({ params, principal }, services) {
    const { accountId } = principal;
    await edit(services, principal, async ({ em, now }) => {
      const row = await found(findUser(em, accountId, params.id), 'user');
      if (await isLastAdmin(em, row)) throw conflict(lastAdmin);
      await endSessionsOfUser(em, accountId, row.id);
      em.remove(row);
      recordAudit(em, principal, { action: 'user.delete', entityId: row.id, details: { role: row.role } }, now);
    });
    await services.recheckStreams(accountId);
    return { deleted: true };
  },
});

const endSessions = defineEndpoint({
  method: 'DELETE',
  path: '/rest/v1/users/{id}/sessions',
  scope: 'user:update',
  id: 'endUserSessions',
  uses: { recheckStreams },
  tag: 'Users',
  summary: 'Sign a user out of every browser, and delete unused sign-in links',
  reply: Type.Object({ ended: Type.Integer() }),
  async handle({ params, principal }, services) {
    const { accountId } = principal;
    const ended = await edit(services, principal, async ({ em, now }) => {
      const row = await found(findUser(em, accountId, params.id), 'user');
      const count = await endSessionsOfUser(em, accountId, row.id);
      recordAudit(em, principal, { action: 'user.sign-out', entityId: row.id, details: { sessions: count } }, now);
      return count;
    });
    await services.recheckStreams(accountId);
    return { ended };
  },
});

export const userEndpoints = [listRoles, listAll, createUser, updateUser, deleteUser, endSessions];
