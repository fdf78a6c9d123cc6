import { hash } from 'node:crypto';
import { normalizeEmail } from '../contracts/events/partition.ts';

/** The kinds of identifiers of a visitor other than its id. */
export type IdentityKind = 'external_id' | 'email';

export const identityKinds: readonly IdentityKind[] = ['external_id', 'email'];

/** The identifiers of an event. All values are clean text; an e-mail address is normalized. */
export type VisitorClaim = {
  /** The id of a device, or of a visitor. */
  readonly userId: string | undefined;
  /** The customer's ids of a person; an alias has two, the previous one first. */
  readonly externalIds: readonly string[];
  readonly emails: readonly string[];
  /**
   * The id of the visitor that is created if there is no other identifier; the same for every delivery of the event.
   */
  readonly anonymousId: string | undefined;
  /** The event states that its two externalIds are one person. */
  readonly isAlias?: boolean;
};

/** An identifier of a visitor as it is stored. */
export type Identifier = { readonly kind: 'visitor' | IdentityKind; readonly value: string };

/** All identifiers in a claim. A person's claim excludes the device's id, since other people may use the device. */
export function identifiersOf({ userId, externalIds, emails, anonymousId }: VisitorClaim): readonly Identifier[] {
  const ids = externalIds.length > 0 ? [] : [userId, anonymousId];
  return [
    ...ids.filter((id) => id !== undefined).map((value) => ({ kind: 'visitor' as const, value })),
    ...externalIds.map((value) => ({ kind: 'external_id' as const, value: storedIdentity(value) })),
    ...emails.map((value) => ({ kind: 'email' as const, value: storedIdentity(value) })),
  ];
}

/** The identifiers that an event names: its claim, and those that identify no visitor. */
type Naming = { readonly claim: VisitorClaim; readonly unclaimed?: readonly Identifier[] };

/** All identifiers that an event names. */
export const namedBy = ({ claim, unclaimed }: Naming): readonly Identifier[] =>
  unclaimed === undefined ? identifiersOf(claim) : [...identifiersOf(claim), ...unclaimed];

/** An event after its claim lost some of the identifiers that it names. */
export function stillNaming<Event extends Naming>(event: Event, named: readonly Identifier[]): Event {
  const claimed = identifiersOf(event.claim);
  const unclaimed = named.filter(({ kind, value }) => !claimed.some((one) => one.kind === kind && one.value === value));
  return unclaimed.length === 0 ? event : { ...event, unclaimed };
}

/** The id in a claim that may be a device's, also if the claim is a person's. */
export const deviceOf = ({ userId }: VisitorClaim): readonly Identifier[] =>
  userId === undefined ? [] : [{ kind: 'visitor', value: userId }];

/** The identity tables are keyed by text of at most this many bytes; PostgreSQL indexes no more than 2,704. */
const identityBytesMax = 1_024;

/**
 * Text as PostgreSQL can store it: without NUL characters, and with lone surrogates replaced. Undefined if nothing is
 * left.
 */
export function cleanText(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  if (!unstorable.test(value)) return value;
  const clean = value.replaceAll('\0', '').toWellFormed();
  return clean === '' ? undefined : clean;
}

/** An e-mail address in the form by which visitors are looked up: clean, trimmed, lower case. */
export function cleanEmail(value: unknown): string | undefined {
  return normalizeEmail(cleanText(value));
}

/** An identity as it is stored: the text, or its hash if it is too long for an index. */
export function storedIdentity(value: string): string {
  const short = value.length * 3 <= identityBytesMax || Buffer.byteLength(value) <= identityBytesMax;
  return short ? value : `sha256:${sha256(value)}`;
}

/**
 * The id of the visitor of an event without identifiers. It is derived from the event, so that a redelivery creates no
 * second visitor.
 */
export function anonymousVisitorId(accountId: string, eventId: string): string {
  return uuidOf(`${accountId}\nanonymous\n${eventId}`);
}

/** The visitor id in a test event whose visitor is not stored. */
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
