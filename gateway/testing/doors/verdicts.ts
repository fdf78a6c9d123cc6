import { Members, Raw, badByte, factsOf, isList, writeTree } from './json-tree.ts';
import type { Tree } from './json-tree.ts';

/*
 * The result of one message according to the documentation of its family, written from these pages and not from the
 * code: segment.com/docs/connections/spec and .../http-api, rudderstack.com/docs/event-spec,
 * posthog.com/docs/api/capture, and for our own payloads the contract (docs, "Ingest payloads"). `either`: the pages
 * do not specify it.
 */

export type Verdict = 'stored' | 'refused' | 'either';

const eventCharactersMax = 1_000;
const idCharactersMax = 400;
/**
 * A message is stored if it nests up to `depthStored` levels deep, and refused if deeper than `depthRefused`; between
 * these limits, the JSON around it decides.
 */
const depthStored = 58;
const depthRefused = 68;
const bytesStored = 40_000;
const keysStored = 900;

/** The verdict by size, depth and encoding; undefined if only the message's fields decide. */
function readable(message: Tree): Verdict | undefined {
  const facts = factsOf(message);
  if (facts.depth > depthRefused) return 'refused';
  if (facts.depth > depthStored || facts.keys > keysStored) return 'either';
  // The gateway may replace the byte or refuse the message.
  if (facts.texts.some((text) => text.includes(badByte))) return 'either';
  if (writeTree(message).length > bytesStored) return 'either';
  return undefined;
}

/** Null characters are removed from the data of these libraries. */
const clean = (value: Tree | undefined): Tree | undefined =>
  typeof value === 'string' ? value.replaceAll('\u0000', '') : value;

const isText = (value: Tree | undefined, charactersMax: number): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= charactersMax;

const tooLong = (value: Tree | undefined): boolean => typeof value === 'string' && value.length > idCharactersMax;
const isNumber = (text: string): boolean => /\d/.test(text);
const isId = (value: Tree | undefined): boolean =>
  (typeof value === 'string' && value !== '') || (value instanceof Raw && isNumber(value.text));

export const specCalls = ['track', 'identify', 'page', 'screen', 'group', 'alias'] as const;

/**
 * Verdict on a message of Segment or RudderStack. `call`: the call in the path; in a batch the message's `type`
 * decides.
 */
export function specVerdict(message: Tree, call?: string): Verdict {
  const unread = readable(message);
  if (unread !== undefined) return unread;
  if (!(message instanceof Members)) return 'refused';
  const field = (name: string): Tree | undefined => clean(message.get(name));
  const type = call ?? field('type');
  if (typeof type !== 'string' || !(specCalls as readonly string[]).includes(type)) return 'refused';
  if (tooLong(field('userId')) || tooLong(field('anonymousId'))) return 'refused';
  if (type === 'track') return isText(field('event'), eventCharactersMax) ? 'stored' : 'refused';
  if (type === 'group') return isId(field('groupId')) ? 'stored' : 'refused';
  if (type === 'alias') {
    if (!isId(field('userId')) || !isId(field('previousId'))) return 'refused';
    return tooLong(field('previousId')) ? 'refused' : 'stored';
  }
  return 'stored';
}

export function posthogVerdict(message: Tree): Verdict {
  const unread = readable(message);
  if (unread !== undefined) return unread;
  if (!(message instanceof Members)) return 'refused';
  const found = message.get('properties');
  const properties = found instanceof Members ? found : new Members([]);
  const ids = [message.get('distinct_id'), message.get('$distinct_id')].concat(
    ['distinct_id', '$anon_distinct_id', '$device_id', 'alias'].map((name) => properties.get(name)),
  );
  // Which id is used depends on the other ids.
  if (ids.map(clean).some(tooLong)) return 'either';
  const given = clean(message.get('event'));
  // Python's NaN is read as null.
  const event = given instanceof Raw && !isNumber(given.text) ? null : given;
  if (event === undefined || event === null) return 'either';
  if (!isText(event, eventCharactersMax)) return 'refused';
  if (event === '$create_alias' || event === '$merge_dangerously') return 'either';
  return 'stored';
}

const contactTexts =
  'email first_name last_name gender date_of_birth phone_number city state zip country external_id company_name job_title ip'.split(
    ' ',
  );
const rowTexts: Readonly<Record<string, number>> = { userId: 400, externalId: 400, email: 1_000 };
const rowObjects = ['eventProperties', 'properties', 'custom_properties', 'defaultProperties'];
const timeWindow = { oldestMs: -7 * 86_400_000, newestMs: 5 * 60_000 } as const;

/** Verdict on a row of `/api/v1/batch`, or on the payload of `/api/v1/track` or `/api/v1/identify`. */
export function nativeVerdict(message: Tree, kind: 'row' | 'track' | 'identify', nowMs: number): Verdict {
  if (!(message instanceof Members)) return 'refused';
  const { depth, keys, texts, isJson } = factsOf(message);
  if (!isJson || depth > depthRefused) return 'refused';
  if (texts.some((text) => text.includes('\u0000') || text.includes(badByte))) return 'refused';
  if (depth > depthStored || keys > keysStored || writeTree(message).length > bytesStored) return 'either';
  if (texts.some((text) => ['__proto__', 'constructor', 'prototype'].includes(text))) return 'either';
  // The contract does not specify which of two fields with the same name counts.
  if (new Set(message.list.map(([name]) => name)).size < message.list.length) return 'either';
  const field = (name: string): Tree | undefined => message.get(name) ?? undefined;
  if (kind !== 'identify' && !isText(field('event'), eventCharactersMax)) return 'refused';
  if (kind === 'row' && !isText(field('distinctId'), idCharactersMax)) return 'refused';
  if (kind !== 'row' && field('distinctId') !== undefined && !isText(field('distinctId'), idCharactersMax)) {
    return kind === 'track' ? 'refused' : 'either';
  }
  for (const [name, charactersMax] of Object.entries(rowTexts)) {
    if (field(name) !== undefined && !isText(field(name), charactersMax)) return 'refused';
  }
  const time = field('time');
  if (kind !== 'identify' && time !== undefined) {
    if (!(time instanceof Raw)) return 'refused';
    const ms = Number(time.text) - nowMs;
    if (!(ms > timeWindow.oldestMs && ms < timeWindow.newestMs)) return 'refused';
  }
  const objects = kind === 'identify' ? rowObjects.slice(2) : rowObjects;
  if (objects.some((name) => field(name) !== undefined && !(field(name) instanceof Members))) return 'refused';
  if (kind === 'identify' && field('userProperties') === undefined) return 'refused';
  return areContacts(field('userProperties')) && isNetwork(field('identityContext')) ? othersOf(message) : 'refused';
}

/** A field of the contract for which this file has no rule may be refused or not. */
function othersOf(message: Members): Verdict {
  const unnamed = ['token', 'integrations', 'consent', 'userHash'];
  return unnamed.slice(1).some((name) => message.get(name) !== undefined) ? 'either' : 'stored';
}

const isShort = (value: Tree | undefined): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.length <= 2_000);

function areContacts(value: Tree | undefined): boolean {
  if (value === undefined) return true;
  if (!(value instanceof Members)) return false;
  if (!contactTexts.every((name) => isShort(value.get(name)))) return false;
  return ['custom_properties', 'consent'].every((name) => {
    const one = value.get(name) ?? undefined;
    return one === undefined || one instanceof Members;
  });
}

function isNetwork(value: Tree | undefined): boolean {
  if (value === undefined) return true;
  return value instanceof Members && isShort(value.get('ip')) && isShort(value.get('userAgent'));
}

/** Verdict on the body of a webhook. Any JSON is stored, since the sender cannot correct it. */
export function webhookVerdict(body: Tree): Verdict {
  const { depth, keys, texts, isJson } = factsOf(body);
  if (!isJson) return 'refused';
  if (depth > depthRefused) return 'refused';
  if (texts.some((text) => ['__proto__', 'constructor', 'prototype'].includes(text))) return 'either';
  if (depth > depthStored || keys > keysStored || writeTree(body).length > bytesStored) return 'either';
  return body instanceof Members || (isList(body) && body.length > 0) ? 'stored' : 'either';
}
