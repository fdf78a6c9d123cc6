import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

/** A person with `sub` and the other claims that the provider returns. */
export type Person = { readonly sub: string } & Readonly<Record<string, unknown>>;

/** An OpenID Connect provider (certified software). `person` signs in next. */
export type OpenIdProvider = {
  readonly issuer: string;
  person: Person;
  /** The claims about `person` that the ID token has, besides `sub`; the userinfo endpoint returns all. */
  inIdToken: readonly string[];
  stop(): Promise<void>;
};

export const testClient = { clientId: 'sluice', clientSecret: 'canary-client-secret' } as const;

/** `callback` is the address to which the provider sends browsers back. */
export async function startOpenIdProvider(callback: string): Promise<OpenIdProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const started = {
    issuer,
    person: { sub: 'none yet' } as Person,
    inIdToken: [] as readonly string[],
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: testClient.clientId,
        client_secret: testClient.clientSecret,
        redirect_uris: [callback],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub', 'email', 'email_verified'], email: ['email', 'email_verified'], groups: ['groups'] },
    scopes: ['openid', 'email', 'groups'],
    cookies: { keys: ['test'] },
    ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600 },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, id) => ({
      accountId: id,
      claims(use) {
        const all = Object.entries(started.person);
        const shown = use === 'id_token' ? all.filter(([name]) => started.inIdToken.includes(name)) : all;
        return { ...Object.fromEntries(shown), sub: id };
      },
    }),
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({
        accountId: oidc.session?.accountId ?? '',
        clientId: oidc.client?.clientId ?? '',
      });
      grant.addOIDCScope('openid email groups');
      await grant.save();
      return grant;
    },
  });
  const answer = provider.callback();
  server.on('request', (request, response) => {
    if (request.url?.startsWith('/interaction/') !== true) return void answer(request, response);
    return void provider.interactionFinished(request, response, { login: { accountId: started.person.sub } });
  });
  return started;
}
