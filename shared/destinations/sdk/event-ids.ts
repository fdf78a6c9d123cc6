import { hash } from 'node:crypto';

const plain = /^[\x21-\x7e]+$/;
const keyCharactersMax = 1_024;

/**
 * A key that is identical for each attempt of the same events: the event id, percent-encoded if a
 * header cannot carry it unchanged; for several events a hash of their ids.
 */
export function idempotencyKey(eventIds: readonly string[]): string {
  const only = eventIds.length === 1 ? eventIds[0] : undefined;
  if (only === undefined) return `batch-${hashOf(eventIds.join('\n'))}`;
  if (plain.test(only)) return only;
  // A lone surrogate cannot be percent-encoded.
  const encoded = only.isWellFormed() ? encodeURIComponent(only) : undefined;
  return encoded !== undefined && encoded.length <= keyCharactersMax ? encoded : `id-${hashOf(only)}`;
}

function hashOf(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 40);
}

const given = /^00-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})$/;

/**
 * The W3C trace context header of a delivery (https://www.w3.org/TR/trace-context/, version 00).
 * Continues `trace`, the ingest request's header, if it is valid, else starts a trace. Derived from
 * ids, so every attempt sends the same header.
 */
export function traceparentOf(eventIds: readonly string[], trace: string | undefined): string {
  const own = hash('sha256', eventIds.join('\n'), 'hex');
  const span = own.slice(32, 48);
  const [, traceId, flags] = (trace === undefined ? undefined : given.exec(trace)) ?? [];
  return `00-${traceId ?? own.slice(0, 32)}-${span}-${flags ?? '00'}`;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/**
 * A UUID for an event id, identical for each attempt: the id itself if it is a UUID, else a version 8
 * UUID (RFC 9562) from its hash. For platforms that deduplicate by UUID.
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
 * A ULID for an event, identical for each attempt: its time, and the hash of its id in place of the
 * random part (https://github.com/ulid/spec). For platforms that deduplicate by ULID.
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
