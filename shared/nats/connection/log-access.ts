import { credsAuthenticator, nkeyAuthenticator } from 'nats';
import type { ConnectionOptions } from 'nats';
import type { LogVariables } from './log-env.ts';

/** Where the log is and how to be let in: plain data, so that a process can hand it to its threads. */
export type LogAccess = {
  /** Servers, comma separated. A user and password, or a token, may stand before the host. */
  readonly url: string;
  readonly tls?: LogTls;
  readonly login?: LogLogin;
};

/** PEM texts. */
export type LogTls = { readonly ca?: string; readonly cert?: string; readonly key?: string };

export type LogLogin =
  | { readonly kind: 'password'; readonly user: string; readonly password: string }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'nkey'; readonly seed: string }
  | { readonly kind: 'creds'; readonly creds: string };

/** What the environment says about reaching the log. */
export function logAccess(env: LogVariables): LogAccess {
  const { NATS_CA: ca, NATS_CERT: cert, NATS_KEY: key } = env;
  const login = loginOf(env);
  const tls = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
  return {
    url: env.NATS_URL,
    ...(Object.keys(tls).length === 0 ? {} : { tls }),
    ...(login === undefined ? {} : { login }),
  };
}

/** The same in the words of the client library. */
export function accessOptions(access: LogAccess): ConnectionOptions {
  const addresses = access.url
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '');
  // A server may offer TLS to those who like; these options insist on it.
  const insists = access.tls !== undefined || addresses.some((address) => address.startsWith('tls://'));
  return {
    servers: addresses.map(withoutLogin),
    ...(insists ? { tls: { ...access.tls } } : {}),
    ...loginOptions(access.login ?? loginInAddress(addresses)),
  };
}

function loginOf(env: LogVariables): LogLogin | undefined {
  const { NATS_USER: user, NATS_PASSWORD: password, NATS_TOKEN: token } = env;
  const { NATS_NKEY_SEED: seed, NATS_CREDS: creds } = env;
  if (creds !== undefined) return { kind: 'creds', creds };
  if (seed !== undefined) return { kind: 'nkey', seed };
  if (token !== undefined) return { kind: 'token', token };
  if (user !== undefined && password !== undefined) return { kind: 'password', user, password };
  return undefined;
}

function loginOptions(login: LogLogin | undefined): ConnectionOptions {
  switch (login?.kind) {
    case undefined:
      return {};
    case 'password':
      return { user: login.user, pass: login.password };
    case 'token':
      return { token: login.token };
    case 'nkey':
      return { authenticator: nkeyAuthenticator(new TextEncoder().encode(login.seed)) };
    case 'creds':
      return { authenticator: credsAuthenticator(new TextEncoder().encode(login.creds)) };
  }
}

const addressParts = /^([a-z]+:\/\/)?(?:([^@/]*)@)?(.*)$/;

function withoutLogin(address: string): string {
  const [, scheme = '', , rest = ''] = addressParts.exec(address) ?? [];
  return scheme + rest;
}

// The library takes one login for all servers, and throws away the one in an address without a word.
function loginInAddress(addresses: readonly string[]): LogLogin | undefined {
  for (const address of addresses) {
    const written = addressParts.exec(address)?.[2];
    if (written === undefined || written === '') continue;
    const [user = '', ...rest] = written.split(':');
    if (rest.length === 0) return { kind: 'token', token: decodeURIComponent(user) };
    return { kind: 'password', user: decodeURIComponent(user), password: decodeURIComponent(rest.join(':')) };
  }
  return undefined;
}
