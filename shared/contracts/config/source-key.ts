import { createHash } from 'node:crypto';

/** SHA-256 of a source key, lower-case hex: the form in which a key is published. */
export function hashSourceKey(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex');
}
