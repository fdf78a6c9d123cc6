import type { ConnectionOptions } from 'node:tls';
import type { DatabaseVariables } from './database-env.ts';

/** Where PostgreSQL is and how to be let in: plain data, so that a process can hand it to its threads. */
export type DatabaseAccess = {
  /** Without any word of TLS. */
  readonly databaseUrl: string;
  /** Undefined: not encrypted. */
  readonly databaseTls?: DatabaseTls;
};

export type DatabaseTls = {
  /** What is checked of the server: nothing, who signed its certificate, or the name in it as well. */
  readonly verify: 'nothing' | 'signature' | 'name';
  /** PEM texts. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
};

/** What the environment says about reaching PostgreSQL. */
export function databaseAccess(env: DatabaseVariables): DatabaseAccess {
  const { DATABASE_CA: ca, DATABASE_CERT: cert, DATABASE_KEY: key } = env;
  const url = new URL(env.DATABASE_URL);
  if (env.DATABASE_PASSWORD !== undefined) url.password = encodeURIComponent(env.DATABASE_PASSWORD);
  const mode = url.searchParams.get('sslmode') ?? (ca === undefined && cert === undefined ? 'disable' : 'verify-full');
  url.searchParams.delete('sslmode');
  const databaseUrl = url.href;
  const verify = verifyOf(mode, ca !== undefined);
  if (verify === undefined) return { databaseUrl };
  return {
    databaseUrl,
    databaseTls: {
      verify,
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    },
  };
}

/** What `pg` and what builds on it takes as `ssl`. */
export function sslOptions(tls: DatabaseTls | undefined): ConnectionOptions | false {
  if (tls === undefined) return false;
  const { verify, ...texts } = tls;
  return {
    ...texts,
    rejectUnauthorized: verify !== 'nothing',
    ...(verify === 'signature' ? { checkServerIdentity: () => undefined } : {}),
  };
}

/** As PostgreSQL's own client library reads it: `require` looks at the signature only if it knows an authority. */
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
