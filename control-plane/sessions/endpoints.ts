import { Type } from 'typebox';
import { User } from '../../shared/postgres/entities.ts';
import { badRequest, forbidden } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import type { Principal } from '../api/define-endpoint.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { edit } from '../draft/edit-entities.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { authenticate } from '../keys/authenticate.ts';
import { scopesOfRole } from '../keys/roles.ts';
import { hasScope } from '../keys/scopes.ts';
import { isUuid } from '../store/text.ts';
import { signedInReply, viewSignedIn } from './session-view.ts';
import { linkMs, makeSignInLink } from './sign-in-links.ts';
import type { Holder } from './live-sessions.ts';

export const sessionEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/me',
    scope: undefined,
    id: 'getMe',
    tag: 'Sessions',
    summary: 'Read the owner and the scopes of this key or session',
    reply: signedInReply,
    handle: ({ principal }, { storage }) => viewSignedIn(storage.fork(), principal),
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/sign-in-links',
    scope: 'key:create',
    id: 'createSignInLink',
    tag: 'Sessions',
    summary:
      'Create a code that signs a browser in to the console, once: /sign-in#<code>. With `key` it signs in as the holder of that ' +
      'key, with `userId` (which needs `user:create` too) as that user. Valid for an hour, or for seven days if the user never signed in',
    body: Type.Object(
      {
        key: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
        userId: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
      },
      { additionalProperties: false },
    ),
    reply: Type.Object({ code: Type.String(), expiresAt: Type.String({ format: 'date-time' }) }),
    async handle({ body: { key, userId }, principal }, services) {
      if ((key === undefined) === (userId === undefined)) throw badRequest('one of key and userId must be given');
      return edit(services, principal, async (editing) => {
        const { holder, forMs } =
          key === undefined
            ? await userOf(editing, userId ?? '')
            : { holder: await keyOf(editing, key), forMs: linkMs.signIn };
        const expiresAt = new Date(editing.now.getTime() + forMs);
        const code = await makeSignInLink(editing.em, holder, expiresAt, editing.now);
        const audited = { action: 'session.link', entityId: holder.id };
        recordAudit(editing.em, principal, audited, editing.now);
        return { code, expiresAt: expiresAt.toISOString() };
      });
    },
  }),
];

async function keyOf({ em, principal, now }: Editing, key: string): Promise<Holder> {
  const owner = await authenticate(em, `Bearer ${key}`, now);
  if (owner?.accountId !== principal.accountId) throw badRequest('key must be a valid API key of this account');
  return { accountId: owner.accountId, kind: 'key', id: owner.id };
}

async function userOf({ em, principal }: Editing, id: string): Promise<{ holder: Holder; forMs: number }> {
  if (!hasScope(principal.scopes, 'user:create')) throw forbidden('user:create', principal.kind);
  const { accountId } = principal;
  const user = isUuid(id) ? await em.findOne(User, { accountId, id }) : null;
  if (user === null) throw badRequest('userId must be a user of this account');
  refuseWiderRole(principal, user.role);
  const forMs = user.signedInAt === null ? linkMs.invitation : linkMs.signIn;
  return { holder: { accountId, kind: 'user', id }, forMs };
}

/** Throws a 403 if a role has scopes that the principal lacks: the principal could act through that role. */
export function refuseWiderRole(principal: Principal, role: string): void {
  const beyond = scopesOfRole(role).find((scope) => !hasScope(principal.scopes, scope));
  if (beyond !== undefined) throw forbidden(beyond, principal.kind);
}
