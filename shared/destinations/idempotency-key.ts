import { hash } from 'node:crypto';

const plain = /^[\x21-\x7e]+$/;
const keyCharactersMax = 1_024;

/**
 * The same key for the same events, however often they are sent: the event's id, percent-encoded where a header could
 * not carry it; for several events a hash of their ids.
 */
export function idempotencyKey(eventIds: readonly string[]): string {
  const only = eventIds.length === 1 ? eventIds[0] : undefined;
  if (only === undefined) return `batch-${hashOf(eventIds.join('\n'))}`;
  if (plain.test(only)) return only;
  // A lone surrogate has no percent-encoding.
  const encoded = only.isWellFormed() ? encodeURIComponent(only) : undefined;
  return encoded !== undefined && encoded.length <= keyCharactersMax ? encoded : `id-${hashOf(only)}`;
}

function hashOf(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 40);
}
