import { copyMember } from '../../../shared/json/exact-numbers.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { clickParameters, mayHaveClick } from '../../../shared/contracts/events/click-ids.ts';
import { readId } from './translation.ts';

/** The context of a message, translated into our fields. */
export type TranslatedContext = {
  readonly defaultProperties: Record<string, unknown>;
  readonly identityContext: { readonly ip?: string; readonly userAgent?: string } | undefined;
  /** The visitor's consent by category; undefined if the message contains none. */
  readonly consent: JsonObject | undefined;
  /** The consent as the sender wrote it: members that are missing in `consent` may matter. */
  readonly ownConsent: JsonObject | undefined;
  /** Signature of the message's userId; see the payload field `userHash`. */
  readonly userHash: string | undefined;
};

/** Maximum length of an address or a User-Agent in a context. */
export const contextTextCharactersMax = 2_000;

/** Objects of a context whose members become `<prefix>_<name>`. */
export const contextPrefixes: Readonly<Record<string, string>> = {
  app: 'app',
  campaign: 'utm',
  device: 'device',
  library: 'library',
  location: 'location',
  network: 'network',
  os: 'os',
  screen: 'screen',
};

const pageNames: ReadonlyMap<string, string> = new Map([
  ['url', 'current_url'],
  ['path', 'pathname'],
]);

/**
 * Translates the context of a message (segment.com/docs/connections/spec/common#context,
 * rudderstack.com/docs/event-spec/standard-events/common-fields#contextual-fields) into the context of an event. Page,
 * campaign, device and similar members get our names; the end user's address and User-Agent are returned separately;
 * all others keep their names. The caller reads the traits.
 */
export function translateContext(context: JsonObject): TranslatedContext {
  const defaultProperties: Record<string, unknown> = {};
  const network: { ip?: string; userAgent?: string } = {};
  let consent: JsonObject | undefined;
  let ownConsent: JsonObject | undefined;
  let userHash: string | undefined;
  for (const name in context) {
    const value = context[name];
    if (value === null || value === undefined) continue;
    const prefix = Object.hasOwn(contextPrefixes, name) ? contextPrefixes[name] : undefined;
    if (prefix !== undefined && isJsonObject(value)) addPrefixed(prefix, value, defaultProperties);
    else if (name === 'page' && isJsonObject(value)) addPage(value, defaultProperties);
    else if (name === 'ip' && isShort(value)) network.ip = value;
    else if (name === 'userAgent' && isShort(value)) network.userAgent = value;
    else if (name === 'userHash' && typeof value === 'string') userHash = value;
    else if (name === 'sessionId') defaultProperties['sid'] = readId(context, name);
    else if (name === 'consent' || name === 'consentManagement') {
      const read = readConsent(value);
      if (read === undefined) continue;
      consent = read;
      ownConsent = value as JsonObject;
    } else if (name !== 'traits') copyMember(defaultProperties, name, context);
  }
  const known = network.ip !== undefined || network.userAgent !== undefined;
  return { defaultProperties, identityContext: known ? network : undefined, consent, ownConsent, userHash };
}

/** Adds the properties of a page, from a context or a page call; existing ones stay. */
export function addPage(page: JsonObject, to: Record<string, unknown>): void {
  for (const name in page) {
    const value = page[name];
    const own = pageNames.get(name) ?? name;
    if (value !== null && value !== undefined && (to[own] ?? undefined) === undefined) copyMember(to, own, page, name);
  }
  completePage(to);
}

/** Adds the properties that follow from a page's address. */
export function completePage(to: Record<string, unknown>): void {
  const { current_url: url, search } = to;
  if (typeof url !== 'string') return;
  const [, host, path] = address.exec(url) ?? [];
  if (host !== undefined) {
    to['host'] ??= host.toLowerCase();
    to['pathname'] ??= path === '' ? '/' : path;
  }
  const query = typeof search === 'string' && search !== '' ? search : url;
  if (mayTellOrigin(query)) addOrigin(query, to);
}

const pageProperties = ['url', 'path', 'referrer', 'title', 'search'] as const;

/** The properties of a page call that identify the page. */
export const pageOf = (properties: JsonObject): JsonObject =>
  Object.fromEntries(pageProperties.map((name) => [name, properties[name]]));

/** Captures the host and the path of an absolute address. */
const address = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#]+)([^?#]*)/i;

const campaignName = /^utm_[a-z_]{1,32}$/;
const clickNames: ReadonlySet<string> = new Set(clickParameters);
const mayTellOrigin = (query: string): boolean => query.includes('utm_') || mayHaveClick.test(query);

/** Adds the campaign and click ids in an address. */
function addOrigin(query: string, to: Record<string, unknown>): void {
  const start = query.indexOf('?');
  const end = query.indexOf('#', start + 1);
  for (const [name, value] of new URLSearchParams(query.slice(start + 1, end < 0 ? undefined : end))) {
    if ((clickNames.has(name) || campaignName.test(name)) && value !== '')
      to[name] ??= value.slice(0, contextTextCharactersMax);
  }
}

function addPrefixed(prefix: string, members: JsonObject, to: Record<string, unknown>): void {
  for (const name in members) {
    const value = members[name];
    if (value === null || value === undefined) continue;
    copyMember(to, prefixed(prefix, name), members, name);
  }
}

/** Reads Segment's `categoryPreferences`, or RudderStack's lists of allowed and denied categories. */
function readConsent(value: unknown): JsonObject | undefined {
  if (!isJsonObject(value)) return undefined;
  const { categoryPreferences, allowedConsentIds, deniedConsentIds } = value;
  if (isJsonObject(categoryPreferences)) return categoryPreferences;
  const said = [...idsOf(allowedConsentIds, true), ...idsOf(deniedConsentIds, false)];
  return said.length === 0 ? undefined : Object.fromEntries(said);
}

const idsOf = (ids: unknown, agreed: boolean): [string, boolean][] =>
  Array.isArray(ids) ? ids.filter((id) => typeof id === 'string').map((id) => [id, agreed]) : [];

const isShort = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= contextTextCharactersMax;

/** Caches built names: libraries use few, and building a name again costs more than finding it here. */
const prefixedNames = new Map<string, Map<string, string>>();
const rememberedMax = 1_000;

/** The name under which an object's member is stored: `device` and `advertisingId` give `device_advertising_id`. */
export function prefixed(prefix: string, name: string): string {
  let names = prefixedNames.get(prefix);
  if (names === undefined) {
    names = new Map();
    prefixedNames.set(prefix, names);
  }
  const known = names.get(name);
  if (known !== undefined) return known;
  const own = prefix === 'utm' && name === 'name' ? 'campaign' : snakeCase(name);
  const made = `${prefix}_${own}`;
  if (names.size < rememberedMax) names.set(name, made);
  return made;
}

const snakeCase = (name: string): string => name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
