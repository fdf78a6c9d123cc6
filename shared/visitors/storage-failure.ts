import { isRefusedValue } from '../postgres/database-failure.ts';
import { VisitorsRefusedError, VisitorsUnavailableError } from './visitor-store.ts';

/** Tells a value the database will never take from everything that may pass: connection, resources, a missing table. */
export function classifyStorageError(doing: string, error: unknown): Error {
  const reason = error instanceof Error ? error.message : String(error);
  const message = `${doing}: ${reason}`;
  return isRefusedValue(error)
    ? new VisitorsRefusedError(message, { cause: error })
    : new VisitorsUnavailableError(message, { cause: error });
}
