import * as client from 'openid-client';
import type { Claims } from './choose-role.ts';
import type { SingleSignOnSettings } from '../sessions/sign-in-settings.ts';

/** The state that a sign-in must present when the browser returns. */
type Challenge = { readonly state: string; readonly nonce: string; readonly verifier: string };

/** The authorization code flow of OpenID Connect with PKCE: https://openid.net/specs/openid-connect-core-1_0.html#CodeFlowAuth */
export type OpenIdLogin = {
  /** The address for the browser. Throws if the provider does not answer. */
  begin(): Promise<{ readonly url: string; readonly challenge: Challenge }>;
  /**
   * The provider's claims about the person who returns with this query. Throws if the provider or the query cannot be
   * trusted.
   */
  finish(query: string, challenge: Challenge): Promise<Claims>;
};

export const callbackPath = '/rest/v1/session/single-sign-on/callback';

const timeoutS = 10;
const usualScope = 'openid email profile';

export function createOpenIdLogin(settings: SingleSignOnSettings): OpenIdLogin {
  const { issuer, clientId, clientSecret, consoleUrl, scope = usualScope } = settings;
  const confirmed = settings.trustsEmail === true ? [] : ['email_verified'];
  const needed = ['email', ...confirmed, ...(settings.roles ?? []).flatMap(({ claim }) => claim ?? [])];
  const callback = new URL(callbackPath, consoleUrl).href;
  let discovered: Promise<client.Configuration> | undefined;
  const discover = (): Promise<client.Configuration> => {
    discovered ??= client
      .discovery(new URL(issuer), clientId, undefined, authentication(clientSecret), {
        timeout: timeoutS,
        ...(issuer.startsWith('http:') ? { execute: [client.allowInsecureRequests] } : {}),
      })
      .catch((error: unknown) => {
        // The next sign-in requests it again.
        discovered = undefined;
        throw error;
      });
    return discovered;
  };
  return {
    async begin() {
      const challenge = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(await discover(), {
        redirect_uri: callback,
        scope,
        state: challenge.state,
        nonce: challenge.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(challenge.verifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, challenge };
    },
    async finish(query, { state, nonce, verifier }) {
      const config = await discover();
      const tokens = await client.authorizationCodeGrant(config, new URL(`${callback}${query}`), {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new Error('the provider sent no ID token');
      // Providers may leave claims, such as groups or `email_verified`, to the userinfo endpoint even if the ID token has the address.
      if (needed.every((name) => claims[name] !== undefined) || config.serverMetadata().userinfo_endpoint === undefined)
        return claims;
      return { ...(await client.fetchUserInfo(config, tokens.access_token, claims.sub)), ...claims };
    },
  };
}

/** HTTP Basic, unless the provider accepts the secret only in the body. A client without a secret uses only PKCE. */
function authentication(secret: string | undefined): client.ClientAuth {
  if (secret === undefined) return client.None();
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return methods.includes('client_secret_basic') ? basic(server, ...rest) : post(server, ...rest);
  };
}
