import { isRefusedValue } from '../../../shared/postgres/database-failure.ts';

/** What a log line may say of a failure of the database: of a refused value not even the message, which may quote it. */
export function failureFields(error: unknown): { readonly code?: string; readonly reason: string } {
  if (!(error instanceof Error)) return { reason: 'unknown' };
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  return { ...code, reason: isRefusedValue(error) ? 'value refused' : error.message };
}
