import { hash } from 'node:crypto';
import { normalizeEmail } from '../contracts/events/partition.ts';

/** What identifies a visitor beside its own id. */
export type IdentityKind = 'external_id' | 'email';

export const identityKinds: readonly IdentityKind[] = ['external_id', 'email'];

/** How an event names its visitor. All values are clean text; an e-mail address is in its one form. */
export type VisitorClaim = {
  /** The id of a device, or the visitor's own. */
  readonly userId: string | undefined;
  /** The customer's id of a person; of an alias both ids, the previous one first. */
  readonly externalIds: readonly string[];
  readonly emails: readonly string[];
  /** The id of the visitor made when nothing above is given, and only then; the same for every delivery of the event. */
  readonly anonymousId: string | undefined;
  /** The event says that its two externalIds are one person. */
  readonly isAlias?: boolean;
};

/** An id of a visitor, or what else identifies one, as it is stored. */
export type Identifier = { readonly kind: 'visitor' | IdentityKind; readonly value: string };

/** All that a claim names its visitor by: of a person, not the device, which others may use as well. */
export function identifiersOf({ userId, externalIds, emails, anonymousId }: VisitorClaim): readonly Identifier[] {
  const ids = externalIds.length > 0 ? [] : [userId, anonymousId];
  return [
    ...ids.filter((id) => id !== undefined).map((value) => ({ kind: 'visitor' as const, value })),
    ...externalIds.map((value) => ({ kind: 'external_id' as const, value: storedIdentity(value) })),
    ...emails.map((value) => ({ kind: 'email' as const, value: storedIdentity(value) })),
  ];
}

/** The identity tables are keyed by text of at most this many bytes; PostgreSQL indexes no more than 2,704. */
const identityBytesMax = 1_024;

/**
 * Text as PostgreSQL can store it: NUL characters are taken out and lone surrogates replaced, since neither fits in
 * its text or jsonb. Undefined when nothing is left.
 */
export function cleanText(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  if (!unstorable.test(value)) return value;
  const clean = value.replaceAll('\0', '').toWellFormed();
  return clean === '' ? undefined : clean;
}

/** An e-mail address as visitors are looked up by it: clean, trimmed, lower case. */
export function cleanEmail(value: unknown): string | undefined {
  return normalizeEmail(cleanText(value));
}

/** An identity as it is stored: the text itself, or its hash where it is too long for an index. */
export function storedIdentity(value: string): string {
  const short = value.length * 3 <= identityBytesMax || Buffer.byteLength(value) <= identityBytesMax;
  return short ? value : `sha256:${sha256(value)}`;
}

/** The id of the visitor of an event without identifiers. Derived from the event, so that a redelivery makes no second one. */
export function anonymousVisitorId(accountId: string, eventId: string): string {
  return uuidOf(`${accountId}\nanonymous\n${eventId}`);
}

/** The id that test events of a visitor carry which is not stored and has no id of its own. */
export function unstoredVisitorId(
  accountId: string,
  { userId, externalIds, emails, anonymousId }: VisitorClaim,
): string {
  const id = userId ?? anonymousId;
  if (id !== undefined) return id;
  const [kind, value = ''] =
    externalIds[0] === undefined ? (['email', emails[0]] as const) : (['external_id', externalIds[0]] as const);
  return uuidOf(`${accountId}\nunstored\n${kind}\n${storedIdentity(value)}`);
}

/** A UUIDv8 of a text. */
function uuidOf(text: string): string {
  const hex = sha256(text);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

// Lone surrogates only: with the u flag a pair is one code point outside this range.
// eslint-disable-next-line no-control-regex
const unstorable = /[\0\uD800-\uDFFF]/u;

function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}
