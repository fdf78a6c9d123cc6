import { quoteJson } from '../../runtime/json.ts';
import { murmur3, murmur3Bytes, murmur3Pair } from '../../runtime/murmur3.ts';

/** A 64-bit hash of an event's id within its scope, as two halves of 32 bits. */
export type EventHash = { readonly high: number; readonly low: number };

/** The identifiers of an event's visitor that its hash covers. */
type Identifiers = {
  readonly userId?: string | undefined;
  readonly externalIds?: readonly string[];
  readonly emails?: readonly string[];
};

/**
 * Header of a resolved frame: the packed hashes of its events, one for each line and two for an event released from
 * quarantine, so that deduplication can be rebuilt from headers alone.
 */
export const idsHeader = 'Sluice-Hashes';
/** The header of earlier builds, with hashes that have no group. */
export const ungroupedIdsHeader = 'Sluice-Ids';

/**
 * The scope in which an event's id is unique: its source, separately for live and test events. So an id sent with the
 * test key, or with the public key of a page, never counts as a repeated id of a server's event.
 */
export function eventScope({ account, source, test }: EventOrigin): string {
  const isTest = test === true;
  if (account !== lastOrigin.account || source !== lastOrigin.source || isTest !== lastOrigin.isTest) {
    lastOrigin = { account, source, isTest, scope: `${account}\n${source}${isTest ? '\ntest' : ''}` };
  }
  return lastOrigin.scope;
}

type EventOrigin = { readonly account: string; readonly source: string; readonly test?: boolean };

let lastOrigin = { account: '', source: '', isTest: false, scope: '\n' };

/** Number of the lowest bits of a hash that its account determines. */
export const groupBits = 5;
/** Accounts are divided into this many groups. A table of packed hashes thus limits accounts without knowing them. */
export const accountGroups = 2 ** groupBits;

/** The group of the account of a hash, by the hash's low half. */
export const groupOf = (low: number): number => low & (accountGroups - 1);

/**
 * The hash by which a repeated event is recognised within its scope, which begins with its account. It covers the
 * event's id and its visitor's identifiers, so that an event of another person does not count as a repetition. It
 * consists of two MurmurHash3 values with independent seeds, but for the group of the account: among 8 million ids of
 * one account the chance that any two collide is about 1 in 18,000.
 */
export function hashEvent(scope: string, eventId: string, claim: Identifiers = {}): EventHash {
  const { high, low } = hashWithoutGroup(scope, eventId, claim);
  return { high, low: low - groupOf(low) + seedsOf(scope).group };
}

/** The hash of an event in earlier builds, which had no groups. Some of them used the account's id as the scope. */
export function hashWithoutGroup(scope: string, eventId: string, claim: Identifiers = {}): EventHash {
  const text = eventId + identityText(claim);
  const { high, low } = seedsOf(scope);
  return murmur3Pair(text, high, low);
}

/** The seeds of a scope's hashes, and the group of its account. The results for the last two scopes are kept. */
function seedsOf(scope: string): Seeds {
  if (scope !== last.scope) {
    const found = scope === lastButOne.scope ? lastButOne : { scope, seeds: makeSeeds(scope) };
    lastButOne = last;
    last = found;
  }
  return last.seeds;
}

type Seeds = EventHash & { readonly group: number };

function makeSeeds(scope: string): Seeds {
  const [account = ''] = scope.split('\n', 1);
  return { ...murmur3Pair(scope, 1, 2), group: groupOf(murmur3(account)) };
}

let last = { scope: '', seeds: makeSeeds('') };
let lastButOne = last;

/**
 * The identifiers as one text; empty if there are none. Different identifiers, also of different kinds, never have
 * equal texts.
 */
function identityText({ userId, externalIds = [], emails = [] }: Identifiers): string {
  if (userId === undefined && externalIds.length + emails.length === 0) return '';
  const user = userId === undefined ? 'null' : quoteJson(userId);
  return `\n[${user},[${quoteAll(externalIds)}],[${quoteAll(emails)}]]`;
}

/** Writes texts as the members of a JSON list. Most lists have one text or none. */
function quoteAll(texts: readonly string[]): string {
  const [first] = texts;
  if (first === undefined) return '';
  return texts.length === 1 ? quoteJson(first) : texts.map(quoteJson).join(',');
}

/** Bytes of a packed hash. */
export const bytesPerHash = 8;

/** Packs hashes for a message header. */
export function encodeHashes(hashes: readonly EventHash[]): string {
  const bytes = Buffer.allocUnsafe(hashes.length * bytesPerHash);
  hashes.forEach(({ high, low }, index) => {
    bytes.writeUInt32BE(high, index * bytesPerHash);
    bytes.writeUInt32BE(low, index * bytesPerHash + 4);
  });
  return bytes.toString('base64');
}

/** Unpacks the hashes of a message header; ignores an incomplete hash at the end. */
export function decodeHashes(header: string): EventHash[] {
  const bytes = Buffer.from(header, 'base64');
  const hashes: EventHash[] = [];
  for (let at = 0; at + bytesPerHash <= bytes.length; at += bytesPerHash) {
    hashes.push({ high: bytes.readUInt32BE(at), low: bytes.readUInt32BE(at + 4) });
  }
  return hashes;
}

/**
 * The 32-bit hash by which events are sampled. It covers the event's id but not its visitor, so that events and
 * outcomes have the same sample.
 */
export const sampleHash = (eventId: string): number => murmur3(eventId);

/** As `sampleHash`, for an id at bytes[start, end). */
export const sampleHashOf = (bytes: Uint8Array, start: number, end: number): number => murmur3Bytes(bytes, start, end);
