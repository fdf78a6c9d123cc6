import { tlsFailure } from '../runtime/tls-failure.ts';

export class DatabaseConnectError extends Error {
  readonly code = 'database_connect';
}

const lettingIn = 'PostgreSQL does not let us in: see DATABASE_URL, DATABASE_PASSWORD, DATABASE_CERT and DATABASE_KEY';

/** Why PostgreSQL could not be connected to, in words that name the variables; nothing when it is another failure. */
export function connectFailure(error: unknown): DatabaseConnectError | undefined {
  const [message, code] = [error instanceof Error ? error.message : String(error), codeOf(error)];
  const told = (reason: string | undefined): DatabaseConnectError | undefined =>
    reason === undefined
      ? undefined
      : new DatabaseConnectError(`connecting to PostgreSQL at DATABASE_URL: ${reason}`, { cause: error });
  // Invalid authorization, invalid password; no entry for us in pg_hba.conf is the former.
  if (code === '28000' || code === '28P01') return told(`${lettingIn} (${message})`);
  if (code === '3D000') return told(message);
  if (/does not support SSL/.test(message)) return told('TLS is asked for, and the server does not speak it');
  if (/^(ECONN|EHOST|ENOTFOUND|ETIMEDOUT|EAI_)/.test(code) || /timeout exceeded when trying to connect/.test(message)) {
    return told(message === '' ? code : message);
  }
  const tls = tlsFailure(code, message, 'DATABASE');
  return told(tls === undefined ? undefined : `${tls} (${message})`);
}

// The ORM wraps what the driver threw; several addresses of a host fail as one error without a message.
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return codeOf(error.cause ?? ('previous' in error ? error.previous : undefined));
}
