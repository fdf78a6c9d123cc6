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

const given = /^00-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})$/;

/**
 * The W3C trace context header of a delivery (https://www.w3.org/TR/trace-context/, version 00): in the trace of the
 * request that brought the event where it had one, else in a trace of its own. Derived from the ids, so that every
 * attempt of an event says the same.
 */
export function traceparentOf(eventIds: readonly string[], trace: string | undefined): string {
  const own = hash('sha256', eventIds.join('\n'), 'hex');
  const span = own.slice(32, 48);
  const [, traceId, flags] = (trace === undefined ? undefined : given.exec(trace)) ?? [];
  return `00-${traceId ?? own.slice(0, 32)}-${span}-${flags ?? '00'}`;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/**
 * A UUID for an event's id, the same at every attempt: the id itself where it is one, else a version 8 UUID (RFC 9562)
 * made of its hash. For platforms that recognise a repeated event by a UUID.
 */
export function eventUuid(eventId: string): string {
  if (uuid.test(eventId)) return eventId.toLowerCase();
  const hex = hash('sha256', eventId, 'hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

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
