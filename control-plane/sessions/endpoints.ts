import { Type } from 'typebox';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { badRequest } from '../api/api-error.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { edit } from '../draft/edit-entities.ts';
import { makeSignInLink } from './sign-in-links.ts';
import { signedInReply, viewSignedIn } from './session-view.ts';

/** How long a sign-in link is valid. */
const signInLinkMs = 3_600_000;

export const sessionEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/me',
    scope: undefined,
    id: 'getMe',
    tag: 'Sessions',
    summary: 'Read whose key this is, and its scopes',
    reply: signedInReply,
    handle: ({ principal }, { storage }) => viewSignedIn(storage.fork(), principal),
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/sign-in-links',
    scope: 'key:create',
    id: 'createSignInLink',
    tag: 'Sessions',
    summary: 'Make a code that signs a browser in to the console with the key given, once: /sign-in#<code>',
    body: Type.Object({ key: Type.String({ minLength: 1, maxLength: 200 }) }, { additionalProperties: false }),
    reply: Type.Object({ code: Type.String(), expiresAt: Type.String({ format: 'date-time' }) }),
    async handle({ body, principal }, services) {
      const { key } = body;
      return edit(services, principal, async ({ em, now }) => {
        const [, kid] = key.split('_');
        const expiresAt = new Date(now.getTime() + signInLinkMs);
        const owned = await em.execute<unknown[]>('select 1 from api_keys where account_id = ? and kid = ?', [
          principal.accountId,
          kid ?? '',
        ]);
        if (owned.length === 0) throw badRequest('key must be an API key of this account');
        const code = await makeSignInLink(
          em,
          services.secretBox,
          { accountId: principal.accountId, key, expiresAt },
          now,
        );
        recordAudit(em, principal, { action: 'session.link' }, now);
        return { code, expiresAt: expiresAt.toISOString() };
      });
    },
  }),
];
