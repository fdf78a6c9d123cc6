import jws from 'jws';
import {
  ClientSecretPost,
  OperationProcessingError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
  allowInsecureRequests,
  customFetch,
  genericTokenEndpointRequest,
  processGenericTokenEndpointResponse,
} from 'oauth4webapi';
import type { AuthorizationServer, Client, ClientAuth } from 'oauth4webapi';
import { basicAuthorization } from '../basic-authorization.ts';
import type { OAuthGrant } from '../oauth-grant.ts';
import { decodeJson, isJsonObject } from '../../runtime/json.ts';
import type { Sender } from '../sender.ts';

/** Result of a token request. Reasons contain no text from the platform and no secret. */
export type TokenAnswer =
  | {
      readonly kind: 'token';
      readonly accessToken: string;
      /** How long the token is valid, in ms. */
      readonly lifetimeMs: number;
      /** A new refresh token, if the platform issues one with each token. */
      readonly refreshToken: string | undefined;
    }
  /** The credentials are invalid or expired, so a retry is useless until the operator changes them. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** No conclusive response. */
  | { readonly kind: 'unavailable'; readonly reason: string };

// RFC 6749, section 5.1, recommends `expires_in`; platforms that omit it issue tokens for one hour.
const standardLifetimeSeconds = 3_600;
/** Maximum size of a token: an account decides which server issues its tokens, and all accounts share their store. */
const tokenBytesMax = 8_192;
const assertionSeconds = 3_600;
/** How far the local clock may be ahead of the platform's. */
const clockSkewSeconds = 60;

/** Requests a token from a grant's endpoint, through the sender and its egress rules. */
export async function requestToken(
  grant: OAuthGrant,
  refreshToken: string | undefined,
  sender: Sender,
  nowMs: number,
): Promise<TokenAnswer> {
  const server: AuthorizationServer = { issuer: new URL(grant.tokenUrl).origin, token_endpoint: grant.tokenUrl };
  const client: Client = { client_id: grant.client?.id ?? 'none' };
  const { type, parameters } = askFor(grant, refreshToken, nowMs);
  try {
    const response = await genericTokenEndpointRequest(server, client, authenticationOf(grant), type, parameters, {
      // The egress rules decide where requests may go.
      [allowInsecureRequests]: true,
      [customFetch]: (url, options) => fetchBySender(sender, url, options.headers, options.body),
    });
    const said = await processGenericTokenEndpointResponse(server, client, response);
    if ([said.access_token, said.refresh_token ?? ''].some((token) => Buffer.byteLength(token) > tokenBytesMax))
      return { kind: 'refused', reason: `a token of the answer has more than ${tokenBytesMax} bytes` };
    return {
      kind: 'token',
      accessToken: said.access_token,
      lifetimeMs: (said.expires_in ?? standardLifetimeSeconds) * 1_000,
      refreshToken: said.refresh_token,
    };
  } catch (error) {
    return failureOf(error);
  }
}

type Ask = { readonly type: string; readonly parameters: Record<string, string> };

function askFor(grant: OAuthGrant, refreshToken: string | undefined, nowMs: number): Ask {
  const { by, scope, parameters } = grant;
  const common = { ...(scope === undefined ? {} : { scope }), ...parameters };
  switch (by.kind) {
    case 'refresh-token':
      return {
        type: 'refresh_token',
        parameters: { ...common, refresh_token: refreshToken ?? by.refreshToken },
      };
    case 'client-credentials':
      return { type: 'client_credentials', parameters: common };
    case 'service-account': {
      const issuedAt = Math.floor(nowMs / 1_000) - clockSkewSeconds;
      const assertion = jws.sign({
        header: { alg: 'RS256', typ: 'JWT', ...(by.keyId === undefined ? {} : { kid: by.keyId }) },
        // The scope is part of the signed assertion:
        // https://developers.google.com/identity/protocols/oauth2/service-account
        payload: { iss: by.issuer, scope, aud: grant.tokenUrl, iat: issuedAt, exp: issuedAt + assertionSeconds },
        privateKey: by.privateKey,
      });
      return { type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', parameters: { ...parameters, assertion } };
    }
  }
}

function authenticationOf({ client }: OAuthGrant): ClientAuth {
  // The signed assertion identifies the client.
  if (client === undefined) return () => undefined;
  if (client.sentIn === 'body') return ClientSecretPost(client.secret);
  // The standard requires form-encoding first, but platforms do not decode id and secret.
  const authorization = basicAuthorization(client.id, client.secret);
  return (_server, _client, _body, headers) => headers.set('authorization', authorization);
}

class TokenSendError extends Error {
  readonly code = 'token_unsent';
}

async function fetchBySender(
  sender: Sender,
  url: string,
  headers: Record<string, string>,
  body: URLSearchParams,
): Promise<Response> {
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const sent = await sender.send({
    method: 'POST',
    url,
    headers: { ...Object.fromEntries(lower), 'content-type': 'application/x-www-form-urlencoded' },
    body: body.toString(),
  });
  if (sent.kind === 'failed') throw new TokenSendError(sent.reason);
  const { answer } = sent;
  // Zoho sends a refusal with status 200.
  const said = decodeJson(Buffer.from(answer.body));
  const isRefusal = answer.status === 200 && isJsonObject(said) && typeof said['error'] === 'string';
  const status = isRefusal ? 400 : answer.status;
  // Viant omits the token type, which the standard requires.
  const isUntyped = isJsonObject(said) && 'access_token' in said && said['token_type'] === undefined;
  const text = isUntyped ? JSON.stringify({ ...said, token_type: 'bearer' }) : answer.body;
  return new Response(text, { status, headers: { 'content-type': 'application/json' } });
}

function failureOf(error: unknown): TokenAnswer {
  if (error instanceof TokenSendError) return { kind: 'unavailable', reason: error.message };
  if (error instanceof ResponseBodyError) {
    const isTheirs = error.status >= 500 || error.status === 429 || passing.has(error.error);
    return { kind: isTheirs ? 'unavailable' : 'refused', reason: codeOf(error.error) };
  }
  if (error instanceof WWWAuthenticateChallengeError) {
    return { kind: error.status >= 500 ? 'unavailable' : 'refused', reason: `status ${error.status}` };
  }
  if (!(error instanceof OperationProcessingError)) throw error;
  const { cause } = error;
  if (!(cause instanceof Response)) return { kind: 'unavailable', reason: 'the answer cannot be read' };
  const isRefusal = cause.status >= 400 && cause.status < 500 && cause.status !== 429;
  return { kind: isRefusal ? 'refused' : 'unavailable', reason: `status ${cause.status}` };
}

/** Temporary errors, from RFC 6749, section 5.2, and from platforms. */
const passing: ReadonlySet<string> = new Set(['temporarily_unavailable', 'server_error', 'slow_down', 'Access Denied']);

function codeOf(error: string): string {
  return /^[\w. -]{1,64}$/.test(error) ? error : 'error without a known code';
}
