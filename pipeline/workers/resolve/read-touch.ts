import { clickIdsIn, clickIdsProperty } from '../../../shared/contracts/events/click-ids.ts';
import { readOwnConsent } from '../../../shared/contracts/events/consent-words.ts';
import { aliasEvent } from '../../../shared/contracts/events/envelope.ts';
import type { Envelope, EnvelopeBody } from '../../../shared/contracts/events/envelope.ts';
import { isPlaceholder } from '../../../shared/contracts/events/placeholder-identifier.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { cleanJson } from '../../../shared/visitors/clean-json.ts';
import { defaultIdentityRules } from '../../../shared/visitors/identity-rules.ts';
import type { IdentityRules } from '../../../shared/visitors/identity-rules.ts';
import {
  anonymousVisitorId,
  cleanEmail,
  cleanText,
  identityKinds,
  storedIdentity,
} from '../../../shared/visitors/visitor-identity.ts';
import type { Identifier, IdentityKind, VisitorClaim } from '../../../shared/visitors/visitor-identity.ts';
import type { KeyTrust, VisitorTouch } from '../../../shared/visitors/visitor-store.ts';
import { objectOf, onlyGpc, timeOf } from './read-event.ts';
import type { UserHashCheck } from './user-hash.ts';

/** What an event gives its visitor, and what was left out. */
export type ReadTouch = {
  readonly touch: VisitorTouch;
  /** Number of identifiers that are placeholders or blocked. */
  readonly placeholders: number;
  /** Whether the event has two externalIds without an alias; the second is left out. */
  readonly namesTwo: boolean;
  /** Whether the event came with a public key and a wrong `userHash`. */
  readonly isUnverified: boolean;
};

export type TouchOptions = {
  /** Whether the visitor keeps the Global Privacy Control signal of the event's browser. Default: no. */
  readonly keepsGpc?: boolean;
  /** Checks a user hash, for public sources. Default: no hash is valid. */
  readonly isSigned?: UserHashCheck | undefined;
  /** The account's identity rules. Default: those of an account without settings. */
  readonly identity?: IdentityRules;
};

/** Reads an event's identifiers and its visitor's properties. Placeholders and blocked identifiers are left out. */
export function readTouch(
  envelope: Envelope,
  keyTrust: KeyTrust,
  { keepsGpc = false, isSigned, identity = defaultIdentityRules }: TouchOptions = {},
): ReadTouch {
  const { account, id, at, body, test } = envelope;
  const { claim, unclaimed, fields, userProperties, placeholders, namesTwo } = readNames(envelope, identity);
  const given: JsonObject[] = [];
  if (fields.external_id !== undefined || fields.email !== undefined) given.push(identifying(fields, userProperties));
  if (userProperties !== undefined) given.push(withoutClearing(userProperties, fields));
  const consent = ownWords(body.consent);
  if (consent !== undefined) given.push({ consent });
  // The signal belongs to the person who uses the browser, so that person's events from a server get it too.
  if (keepsGpc && envelope.gpc === true) given.push({ consent: { ...onlyGpc } });
  given.push(...customProperties(envelope), ...clicks(envelope));
  const { userHash } = body;
  const hasHash = keyTrust === 'public' && typeof userHash === 'string';
  const isVerified = hasHash && isSigned?.(signedIdentifier(claim), userHash) === true;
  const touch: VisitorTouch = {
    accountId: account,
    event: { id, sourceId: envelope.source },
    claim,
    receivedAtMs: at,
    saidAtMs: Math.min(timeOf(envelope), at),
    given,
    sentWith: trustOf(keyTrust, test === true, isVerified),
    limits: identity,
    ...(unclaimed.length === 0 ? {} : { unclaimed }),
  };
  return { touch, placeholders, namesTwo, isUnverified: hasHash && !isVerified };
}

function trustOf(keyTrust: KeyTrust, isTest: boolean, isVerified: boolean): KeyTrust {
  if (isTest) return 'test';
  return isVerified ? 'signed' : keyTrust;
}

/** The identifier that a `userHash` signs: the first one in the order of look-up. */
const signedIdentifier = ({ externalIds, userId, emails }: VisitorClaim): string =>
  externalIds[0] ?? userId ?? emails[0] ?? '';

type Names = Pick<ReadTouch, 'placeholders' | 'namesTwo'> & {
  readonly claim: VisitorClaim;
  /** Identifiers that the claim lacks by the account's settings, or because it has another of their kind. */
  readonly unclaimed: readonly Identifier[];
  /** Identifiers that the event has outside of userProperties. */
  readonly fields: IdentifyingFields;
  /** userProperties without the identifiers that are left out: placeholders, blocked ones, and a second externalId. */
  readonly userProperties: JsonObject | undefined;
};

function readNames({ account, id, kind, body }: Envelope, identity: IdentityRules): Names {
  let placeholders = 0;
  const identifierOf = (text: string | undefined): string | undefined => {
    if (text === undefined || !(isPlaceholder(text) || identity.isBlocked(text))) return text;
    placeholders += 1;
    return undefined;
  };
  const sent = cleanMembers(body.userProperties);
  const fields = {
    external_id: identifierOf(cleanText(body.externalId)),
    email: identifierOf(cleanEmail(body.email)),
  };
  const own = { external_id: cleanText(sent?.['external_id']), email: cleanEmail(sent?.['email']) };
  const ownId = identifierOf(own.external_id);
  const ownEmail = identifierOf(own.email);
  const isAlias = isAliasOf(kind, body);
  const namesTwo =
    !isAlias && identity.externalIdsMax === 1 && ownId !== undefined && (fields.external_id ?? ownId) !== ownId;
  const userProperties =
    sent && without(sent, { external_id: namesTwo || ownId !== own.external_id, email: ownEmail !== own.email });
  const userId = identifierOf(cleanText(body.userId));
  const externalIds = distinct(fields.external_id, namesTwo ? undefined : ownId);
  const addresses = distinct(fields.email, ownEmail);
  const emails = identity.emailIdentifies ? addresses : none;
  const unclaimed = [
    ...(namesTwo ? [{ kind: 'external_id' as const, value: storedIdentity(ownId) }] : []),
    ...(emails === addresses
      ? []
      : addresses.map((value) => ({ kind: 'email' as const, value: storedIdentity(value) }))),
  ];
  const isNamed = userId !== undefined || externalIds.length + emails.length > 0;
  const anonymousId = isNamed ? undefined : anonymousVisitorId(account, id);
  const claim = { userId, externalIds, emails, anonymousId, isAlias };
  return { claim, unclaimed, fields, userProperties, placeholders, namesTwo };
}

const isAliasOf = (kind: Envelope['kind'], body: EnvelopeBody): boolean =>
  kind === 'track' && body.event === aliasEvent;

function customProperties({ ctx, body }: Envelope): readonly JsonObject[] {
  if (ctx?.custom_properties === undefined && body.custom_properties === undefined) return [];
  return [ctx?.custom_properties, body.custom_properties].flatMap((custom) => {
    const members = cleanMembers(custom);
    return members === undefined ? [] : [{ custom_properties: members }];
  });
}

function clicks(envelope: Envelope): readonly JsonObject[] {
  const { ctx, body } = envelope;
  const ids = clickIdsIn({ ...ctx?.defaultProperties, ...objectOf(body.defaultProperties) }, timeOf(envelope));
  return ids === undefined ? [] : [{ [clickIdsProperty]: ids }];
}

/** The purposes of an event's consent, which become its visitor's consent as well. */
function ownWords(consent: unknown): JsonObject | undefined {
  if (consent === undefined) return undefined;
  const words = Object.entries(readOwnConsent(consent).words).filter(([name]) => !name.startsWith('$'));
  return words.length === 0 ? undefined : Object.fromEntries(words);
}

function without(properties: JsonObject, left: Readonly<Record<IdentityKind, boolean>>): JsonObject {
  if (!left.external_id && !left.email) return properties;
  return Object.fromEntries(
    Object.entries(properties).filter(([name]) => !identityKinds.some((kind) => kind === name && left[kind])),
  );
}

/** Properties that follow from the identifying fields, unless userProperties has its own value for them. */
function identifying(fields: IdentifyingFields, userProperties: JsonObject | undefined): JsonObject {
  const given: Record<string, string> = {};
  for (const kind of identityKinds) {
    const value = fields[kind];
    const own = userProperties?.[kind];
    if (value !== undefined && (typeof own !== 'string' || own === '')) given[kind] = value;
  }
  return given;
}

/** Ignores a null for an identifier that the same event has elsewhere: clients send null for unset fields. */
function withoutClearing(userProperties: JsonObject, fields: IdentifyingFields): JsonObject {
  const names = identityKinds.filter((kind) => fields[kind] !== undefined && userProperties[kind] === null);
  if (names.length === 0) return userProperties;
  return Object.fromEntries(Object.entries(userProperties).filter(([name]) => !names.some((kind) => kind === name)));
}

function cleanMembers(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? cleanJson(value) : undefined;
}

type IdentifyingFields = Readonly<Record<IdentityKind, string | undefined>>;

function distinct(one: string | undefined, other: string | undefined): readonly string[] {
  if (one === undefined) return other === undefined ? none : [other];
  return other === undefined || other === one ? [one] : [one, other];
}

const none: readonly string[] = [];
