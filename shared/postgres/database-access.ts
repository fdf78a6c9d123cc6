import type { ConnectionOptions } from 'node:tls';
import type { Static, TObject } from 'typebox';
import { defineSettings, fromEnv } from '../runtime/settings.ts';
import { count, optionalSecret, optionalText, secret } from '../runtime/variables.ts';
import { tlsFailure } from '../runtime/tls-failure.ts';

const certificate = '-----BEGIN CERTIFICATE-----';

/** Timeouts of a PostgreSQL session, in ms; 0 keeps the server's default. */
export type DatabaseTimeouts = {
  readonly statementMs: number;
  /** How long a statement may wait for a lock of a row or a table. */
  readonly lockMs: number;
  /** How long a session may be idle inside a transaction, whose locks block other sessions. */
  readonly idleInTransactionMs: number;
};

/** Timeouts of a session if the caller gives none. */
export const databaseTimeoutDefaults: DatabaseTimeouts = {
  statementMs: 10_000,
  lockMs: 5_000,
  idleInTransactionMs: 30_000,
};

/** Values that `?sslmode=` may have. */
const sslModes = ['disable', 'require', 'verify-ca', 'verify-full'] as const;

/** Parameters that other PostgreSQL clients read from the URL; Sluice reads them from variables. */
const foreignParameters = ['ssl', 'sslcert', 'sslkey', 'sslrootcert', 'sslpassword'];

function addressProblems(url: string, given: Readonly<Record<string, string>>): readonly string[] {
  if (!/^postgres(ql)?:\/\//.test(url)) return ['is not a URL that begins with postgres:// or postgresql://'];
  if (!URL.canParse(url)) {
    return ['is not a valid URL. Percent-encode special characters in the password (@ becomes %40).'];
  }
  const parameters = new URL(url).searchParams;
  const foreign = foreignParameters.find((name) => parameters.has(name));
  if (foreign !== undefined) {
    return [`has ${foreign}=: use sslmode=, and DATABASE_CA_FILE, DATABASE_CERT_FILE and DATABASE_KEY_FILE`];
  }
  const mode = parameters.get('sslmode');
  if (mode !== null && !sslModes.some((known) => known === mode)) {
    return [`has sslmode=${mode}, which must be one of ${sslModes.join(', ')}`];
  }
  const hasCertificate = given['DATABASE_CA'] !== undefined || given['DATABASE_CERT'] !== undefined;
  return mode === 'disable' && hasCertificate
    ? ['has sslmode=disable, with which DATABASE_CA and DATABASE_CERT do nothing']
    : [];
}

/** How a process reaches PostgreSQL. Every variable may come from a file: `DATABASE_CA_FILE` for `DATABASE_CA`. */
const variables = {
  DATABASE_URL: databaseAddress(),
  DATABASE_USER: optionalText('Replaces the user in DATABASE_URL'),
  DATABASE_PASSWORD: optionalSecret('Replaces the password in DATABASE_URL'),
  DATABASE_CA: optionalText(
    "Certificates of the authorities that signed the server's certificate, in PEM. Without sslmode in DATABASE_URL, sets verify-full",
    {
      pattern: certificate,
    },
  ),
  DATABASE_CERT: optionalText("This client's certificate, in PEM", { pattern: certificate, needs: 'DATABASE_KEY' }),
  DATABASE_KEY: optionalSecret('The key of DATABASE_CERT, in PEM', {
    pattern: '-----BEGIN [A-Z ]*PRIVATE KEY-----',
    needs: 'DATABASE_CERT',
  }),
  DATABASE_STATEMENT_TIMEOUT_MS: count(
    'How long a statement may take before PostgreSQL ends it; half of this for a wait for a lock. Migrations have no limit',
    databaseTimeoutDefaults.statementMs,
    { unit: 'ms', minimum: 100, maximum: 600_000 },
  ),
};

export const { variables: databaseEnv, read: databaseAccess } = defineSettings(fromEnv(variables, readAccess));

/** The values of the variables of `databaseEnv`. */
export type DatabaseVariables = Parameters<typeof databaseAccess>[0];

/** The variable DATABASE_URL. `whenMissing` is advice for the operator of a command that is started without it. */
export function databaseAddress(whenMissing?: string) {
  return secret(
    'URL of PostgreSQL. To migrate, its user needs the right to create tables. `?sslmode=` is disable, require (encrypted; the server is verified only if DATABASE_CA is set), verify-ca or verify-full',
    { pattern: '^postgres(ql)?://', problems: addressProblems, ...(whenMissing === undefined ? {} : { whenMissing }) },
  );
}

/** Address and credentials of PostgreSQL: plain data, so that a process can pass it to its threads. */
export type DatabaseAccess = {
  /** URL without TLS parameters. */
  readonly databaseUrl: string;
  /** Undefined if the connection is not encrypted. */
  readonly databaseTls?: DatabaseTls;
  /** Default `databaseTimeoutDefaults`. */
  readonly databaseTimeouts?: DatabaseTimeouts;
};

export type DatabaseTls = {
  /** What is checked of the server's certificate: nothing, its signature, or (`name`) its signature and its name. */
  readonly verify: 'nothing' | 'signature' | 'name';
  /** PEM texts. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
};

function readAccess(env: Static<TObject<typeof variables>>): DatabaseAccess {
  const { DATABASE_CA: ca, DATABASE_CERT: cert, DATABASE_KEY: key } = env;
  const url = new URL(env.DATABASE_URL);
  if (env.DATABASE_USER !== undefined) url.username = encodeURIComponent(env.DATABASE_USER);
  if (env.DATABASE_PASSWORD !== undefined) url.password = encodeURIComponent(env.DATABASE_PASSWORD);
  const mode = url.searchParams.get('sslmode') ?? (ca === undefined && cert === undefined ? 'disable' : 'verify-full');
  url.searchParams.delete('sslmode');
  const databaseUrl = url.href;
  const databaseTimeouts = {
    ...databaseTimeoutDefaults,
    statementMs: env.DATABASE_STATEMENT_TIMEOUT_MS,
    lockMs: Math.ceil(env.DATABASE_STATEMENT_TIMEOUT_MS / 2),
  };
  const verify = verifyOf(mode, ca !== undefined);
  if (verify === undefined) return { databaseUrl, databaseTimeouts };
  return {
    databaseUrl,
    databaseTimeouts,
    databaseTls: {
      verify,
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    },
  };
}

/** Timeouts of a session as options of `pg` and of libraries that build on it. */
export function timeoutOptions(timeouts: DatabaseTimeouts = databaseTimeoutDefaults): {
  readonly statement_timeout: number;
  readonly lock_timeout: number;
  readonly idle_in_transaction_session_timeout: number;
} {
  return {
    statement_timeout: timeouts.statementMs,
    lock_timeout: timeouts.lockMs,
    idle_in_transaction_session_timeout: timeouts.idleInTransactionMs,
  };
}

/** The `ssl` option of `pg` and of libraries that build on it. */
export function sslOptions(tls: DatabaseTls | undefined): ConnectionOptions | false {
  if (tls === undefined) return false;
  const { verify, ...texts } = tls;
  return {
    ...texts,
    rejectUnauthorized: verify !== 'nothing',
    ...(verify === 'signature' ? { checkServerIdentity: () => undefined } : {}),
  };
}

/** As in PostgreSQL's own client library, `require` checks the signature only if an authority is given. */
function verifyOf(mode: string, hasAuthority: boolean): DatabaseTls['verify'] | undefined {
  switch (mode) {
    case 'disable':
      return undefined;
    case 'require':
      return hasAuthority ? 'signature' : 'nothing';
    case 'verify-ca':
      return 'signature';
    default:
      return 'name';
  }
}

class DatabaseConnectError extends Error {
  readonly code = 'database_connect';
}

const lettingIn =
  'PostgreSQL refuses the login: check DATABASE_URL, DATABASE_USER, DATABASE_PASSWORD, DATABASE_CERT and DATABASE_KEY';

/** An error for a failed connection that names the variables to check; undefined for other failures. */
export function connectFailure(error: unknown): DatabaseConnectError | undefined {
  const [message, code] = [error instanceof Error ? error.message : String(error), codeOf(error)];
  const told = (reason: string | undefined): DatabaseConnectError | undefined =>
    reason === undefined
      ? undefined
      : new DatabaseConnectError(`connecting to PostgreSQL at DATABASE_URL: ${reason}`, { cause: error });
  // 28000: invalid authorization, or no matching entry in pg_hba.conf; 28P01: invalid password.
  if (code === '28000' || code === '28P01') return told(`${lettingIn} (${message})`);
  if (code === '3D000') return told(message);
  if (/does not support SSL/.test(message)) return told('TLS is required, but the server does not support it');
  if (/^(ECONN|EHOST|ENOTFOUND|ETIMEDOUT|EAI_)/.test(code) || /timeout exceeded when trying to connect/.test(message)) {
    return told(message === '' ? code : message);
  }
  const tls = tlsFailure(code, message, 'DATABASE');
  return told(tls === undefined ? undefined : `${tls} (${message})`);
}

// The ORM wraps the driver's error. The error of a host with several addresses has a code and an empty message.
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return codeOf(error.cause ?? ('previous' in error ? error.previous : undefined));
}
