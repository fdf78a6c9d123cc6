import { isJsonObject } from '../../shared/runtime/json.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';

/**
 * What a log line may say of a failure. A message of the database repeats values of the query (a name, a key), so of
 * those only code, table, constraint and the place in our code are kept.
 */
export function loggableError(error: unknown): JsonObject {
  if (!(error instanceof Error)) return { type: typeof error };
  const facts: JsonObject = isJsonObject(error) ? error : {};
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  const ofDatabase = typeof facts['severity'] === 'string' || typeof facts['sqlState'] === 'string';
  return {
    type: error.name,
    code: facts['code'],
    ...(ofDatabase ? { table: facts['table'], constraint: facts['constraint'] } : { message: error.message }),
    stack: frames.join('\n'),
  };
}
