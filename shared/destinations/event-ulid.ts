import { hash } from 'node:crypto';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const timeCharacters = 10;
const randomCharacters = 16;

/**
 * A ULID for an event, the same at every attempt: its time, and its id's hash where a random number would stand
 * (https://github.com/ulid/spec). For platforms that recognise a repeated event by one.
 */
export function eventUlid(eventId: string, timeMs: number): string {
  // 80 bits of the hash: 16 characters of 5 bits each.
  const random = BigInt(`0x${hash('sha256', eventId, 'hex').slice(0, 20)}`);
  return base32(BigInt(Math.max(0, Math.trunc(timeMs))), timeCharacters) + base32(random, randomCharacters);
}

function base32(value: bigint, characters: number): string {
  let text = '';
  for (let rest = value; text.length < characters; rest >>= 5n) text = alphabet.charAt(Number(rest & 31n)) + text;
  return text;
}
