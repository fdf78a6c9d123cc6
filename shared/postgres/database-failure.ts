import { DatabaseError } from 'pg';

/**
 * Codes of Node.js and PostgreSQL for a session that was lost, refused or timed out, and for a server that accepts no
 * writes (25006): a standby that is being promoted, or to which an address leads by mistake.
 */
const passing: ReadonlySet<string> = new Set(
  'ECONNREFUSED ECONNRESET EPIPE ETIMEDOUT 25006 57P01 57P02 57P03 53300 57014 55P03 40001 40P01'.split(' '),
);
// Messages of the driver (pg), its pool and the query builder (Knex) for a lost session or a timeout. These errors have
// no code.
const passingWords = /connection (terminated|ended|refused)|^timeout exceeded|^query read timeout/i;
const poolTimeout = 'KnexTimeoutError';

/** Whether a retry may succeed, because the session or the pool failed, writers conflicted, or a timeout passed. */
export function isPassingFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  return passing.has(code) || error.name === poolTimeout || passingWords.test(error.message);
}

/**
 * SQLSTATE classes which show that the server can currently serve no client: 08 connection exception, 28 and 3D no
 * access, 42 tables or rights that a migration still has to create, 58 system error, such as a failed disk.
 */
const unreachableClasses: ReadonlySet<string> = new Set('08 28 3D 42 58'.split(' '));
/**
 * 25006 no writes accepted, 53100 disk full, 53300 too many connections, 57P01 to 57P05 sessions ended or refused.
 */
const unreachable: ReadonlySet<string> = new Set(
  'ECONNREFUSED ECONNRESET EPIPE ETIMEDOUT ENOTFOUND EAI_AGAIN EHOSTUNREACH 25006 53100 53300 57P01 57P02 57P03 57P04 57P05'.split(
    ' ',
  ),
);

/**
 * Whether a failure affects the whole database, whatever the statement. All other failures may depend on the rows of
 * the statement: it took too long (57014, also if an operator cancelled it), a page cannot be read (XX001), memory is
 * short (53200), a lock is held (55P03), or the answer cannot be read.
 */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  if (error instanceof DatabaseError) return unreachable.has(code) || unreachableClasses.has(code.slice(0, 2));
  return unreachable.has(code) || (isPassingFailure(error) && !/^query read timeout/i.test(error.message));
}

/** Whether a statement waited too long for a lock of another transaction. */
export function isHeldLock(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '55P03';
}

/** Whether the transaction was rolled back because of another transaction: serialization failure or deadlock. */
export function isWriteConflict(error: unknown): boolean {
  return error instanceof DatabaseError && (error.code === '40001' || error.code === '40P01');
}

/**
 * Whether the database will never accept a value. Classes: 22 data exception, 23 integrity violation, 54 program limit.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export function isRefusedValue(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && ['22', '23', '54'].includes((error.code ?? '').slice(0, 2));
}
