import { DatabaseError } from 'pg';

/**
 * Codes of Node.js and of PostgreSQL for a session that was lost, refused, or waited too long, and for a server that takes
 * no writes (yet): a standby that is being promoted, or one that an address leads to by mistake (25006).
 */
const passing: ReadonlySet<string> = new Set(
  'ECONNREFUSED ECONNRESET EPIPE ETIMEDOUT 25006 57P01 57P02 57P03 53300 57014 55P03 40001 40P01'.split(' '),
);
// What the driver (pg), its pool and the query builder (Knex) say of a session that is gone or a wait that was too long:
// plain errors, which have no code.
const passingWords = /connection (terminated|ended|refused)|^timeout exceeded|^query read timeout/i;
const poolTimeout = 'KnexTimeoutError';

/** Whether a later try may not meet this failure of the database: the session's, the pool's, a wait that was too long. */
export function isPassingFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  return passing.has(code) || error.name === poolTimeout || passingWords.test(error.message);
}

/** Whether two transactions met and one had to give way: serialization failure or deadlock. */
export function isWriteConflict(error: unknown): boolean {
  return error instanceof DatabaseError && (error.code === '40001' || error.code === '40P01');
}

/**
 * Whether the database will never take a value: classes 22 data exception, 23 integrity violation, 54 program limit.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export function isRefusedValue(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && ['22', '23', '54'].includes((error.code ?? '').slice(0, 2));
}
