import { DatabaseError } from 'pg';
import { VisitorsRefusedError, VisitorsUnavailableError } from './visitor-store.ts';

/** Whether two transactions met and one had to give way: serialization failure or deadlock. */
export function isWriteConflict(error: unknown): boolean {
  return error instanceof DatabaseError && (error.code === '40001' || error.code === '40P01');
}

/**
 * Tells a value the database will never take (classes 22 data exception, 23 integrity violation, 54 program limit)
 * from everything that may pass: connection, resources, shutdown, a missing table.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export function classifyStorageError(doing: string, error: unknown): Error {
  const reason = error instanceof Error ? error.message : String(error);
  const refused = error instanceof DatabaseError && /^(?:22|23|54)/.test(error.code ?? '');
  const message = `${doing}: ${reason}`;
  return refused
    ? new VisitorsRefusedError(message, { cause: error })
    : new VisitorsUnavailableError(message, { cause: error });
}
