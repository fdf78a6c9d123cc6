import type { Static, TObject } from 'typebox';
import type { ConnectionOptions } from 'nats';
import { credsAuthenticator, nkeyAuthenticator } from 'nats';
import { defineSettings, fromEnv } from '../../runtime/settings.ts';
import { optionalSecret, optionalText, text } from '../../runtime/variables.ts';

const certificate = '-----BEGIN CERTIFICATE-----';

/** Variables of the alternative login methods; one method is enough. */
const alternatives = ['NATS_USER', 'NATS_TOKEN', 'NATS_NKEY_SEED', 'NATS_CREDS'];

/** How a process reaches the log. Every variable may come from a file: `NATS_CA_FILE` for `NATS_CA`. */
const variables = {
  NATS_URL: text('Servers of the log, comma separated, with a login if needed. `tls://` requires encryption', {
    default: 'nats://127.0.0.1:4222',
  }),
  NATS_MONITOR_URL: optionalText(
    'Monitor ports of the servers, comma separated: only they show whether the servers sync every write',
    { pattern: '^https?://' },
  ),
  NATS_CA: optionalText(
    'Certificates of the authorities that signed the server certificates, in PEM. Default: the authorities that Node knows',
    {
      pattern: certificate,
    },
  ),
  NATS_CERT: optionalText("This client's own certificate, in PEM, for servers that verify clients", {
    pattern: certificate,
    needs: 'NATS_KEY',
  }),
  NATS_KEY: optionalSecret('The key of NATS_CERT, in PEM', {
    pattern: '-----BEGIN [A-Z ]*PRIVATE KEY-----',
    needs: 'NATS_CERT',
  }),
  NATS_USER: optionalText('User to log in as, with NATS_PASSWORD. One way to log in is enough', {
    needs: 'NATS_PASSWORD',
    alternatives,
  }),
  NATS_PASSWORD: optionalSecret('Password of NATS_USER', { needs: 'NATS_USER' }),
  NATS_TOKEN: optionalSecret('Token to log in with', { alternatives }),
  NATS_NKEY_SEED: optionalSecret("Seed of a user's nkey to log in with", { pattern: '^SU[A-Z2-7]+$', alternatives }),
  NATS_CREDS: optionalSecret('Credentials to log in with, as `nsc` writes them: a JWT and the seed of its key', {
    pattern: '-----BEGIN NATS USER JWT-----',
    alternatives,
  }),
  NATS_INBOX_PREFIX: optionalText(
    'Prefix of the subjects for replies, to which the user must be allowed to subscribe. Default: `_INBOX.` and NATS_USER, or `_INBOX` without NATS_USER',
    { pattern: '^[A-Za-z0-9_-]+([.][A-Za-z0-9_-]+)*$' },
  ),
};

export const { variables: logEnv, read: logAccess } = defineSettings(fromEnv(variables, readAccess));

export type LogVariables = Static<TObject<typeof variables>>;

/** Address and credentials of the log: plain data, so that a process can pass it to its threads. */
export type LogAccess = {
  /** Servers, comma separated. A user and password, or a token, may stand before the host. */
  readonly url: string;
  readonly tls?: LogTls;
  readonly login?: LogLogin;
  /** Prefix of reply subjects. Default `_INBOX`, or `_INBOX.<user>` for a login with a password. */
  readonly inboxPrefix?: string;
};

/** PEM texts. */
export type LogTls = { readonly ca?: string; readonly cert?: string; readonly key?: string };

export type LogLogin =
  | { readonly kind: 'password'; readonly user: string; readonly password: string }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'nkey'; readonly seed: string }
  | { readonly kind: 'creds'; readonly creds: string };

function readAccess(env: LogVariables): LogAccess {
  const { NATS_CA: ca, NATS_CERT: cert, NATS_KEY: key, NATS_INBOX_PREFIX: inboxPrefix } = env;
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
    ...(inboxPrefix === undefined ? {} : { inboxPrefix }),
  };
}

/** The access as options of the client library. */
export function accessOptions(access: LogAccess): ConnectionOptions {
  const addresses = addressesOf(access);
  // A server may offer TLS without requiring it; these options require it.
  const insists = access.tls !== undefined || addresses.some((address) => address.startsWith('tls://'));
  const login = access.login ?? loginInAddress(addresses);
  return {
    servers: addresses.map(withoutLogin),
    ...(insists ? { tls: { ...access.tls } } : {}),
    ...loginOptions(login),
    inboxPrefix: access.inboxPrefix ?? inboxPrefixOf(login),
  };
}

/** Whether the access has a login, in an address or in `login`. */
export function hasLogin(access: LogAccess): boolean {
  return (access.login ?? loginInAddress(addressesOf(access))) !== undefined;
}

function addressesOf({ url }: LogAccess): readonly string[] {
  return url
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '');
}

const usualInboxPrefix = '_INBOX';

/**
 * Reply subjects contain the user's name, so that servers can hide them from other users. A name that is not valid in a
 * subject is left out.
 */
function inboxPrefixOf(login: LogLogin | undefined): string {
  if (login?.kind !== 'password' || !/^[A-Za-z0-9_-]+$/.test(login.user)) return usualInboxPrefix;
  return `${usualInboxPrefix}.${login.user}`;
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

// The library uses one login for all servers, and silently drops a login in an address.
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
