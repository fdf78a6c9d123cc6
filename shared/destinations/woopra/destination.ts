import { hash } from 'node:crypto';
import { isIP } from 'node:net';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundEvent, PreparedDestination } from '../sdk/destination.ts';
import { contextOf, identifyEvent, mappedProperties, sentEvent, textOf, traitsOf, isAboutIds } from '../sdk/event.ts';
import { isHeaderValue } from '../sdk/header-rules.ts';
import { postJson } from '../sdk/http.ts';
import { contactIds } from '../sdk/person.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { baseUrl, matching, requiredText } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { namedTraits, traitNames } from '../sdk/trait-names.ts';

const standardUrl = 'https://www.woopra.com';
const cookieCharactersMax = 24;
const idCharactersMax = 140;
const propertiesMax = 200;
const valueCharactersMax = 2_000;

const settings = {
  project: requiredText(
    {
      label: 'Project',
      placeholder: 'example.com',
      sublabel: "The project's domain in Woopra.",
      example: 'example.com',
    },
    matching(/^[a-z0-9][a-z0-9._-]{0,252}$/i, 'must be a domain name'),
  ),
  traitNames: traitNames(),
  baseUrl: baseUrl(standardUrl),
};

/**
 * Woopra: an event with `track/ce/`, an identify with `track/identify/`.
 * https://docs.woopra.com/reference/intro-http-tracking
 *
 * The documented parameters are sent in the body, as Woopra's own libraries send them
 * (https://github.com/Woopra/Woopra-iOS), so that no personal data is in a URL. Older documentation names the project
 * `host`, newer `project`, so both are sent. Properties named `cv_…` are set on the visitor.
 */
export const woopra = defineDestination({
  id: 'Woopra',
  label: 'Woopra',
  settings,
  facts: {
    sends: 'Every event; $identify sets visitor properties',
    limits: { events: 1 },
    deduplicatesBy: undefined,
    errors: 'status, one event per request',
    sources: ['https://docs.woopra.com/reference/track-ce'],
    checked: '2026-11-22',
    version: 'unversioned',
    skips: { group: 'Woopra has no groups', alias: 'Woopra merges visitors by the ids in each event' },
  },
  loadPlatform: async () => (await import('./platform.ts')).woopraPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const { project, baseUrl: base } = given;
  return {
    batchEventsMax: 1,
    accepts: (event) => !isAboutIds(event),
    buildRequest(events, nowMs) {
      const [first] = events;
      if (first === undefined) throw new UnfitEventError('the request has no event');
      const { name } = sentEvent(first);
      const isIdentify = name === identifyEvent;
      const told = isIdentify ? prefixed('cv_', namedTraits(traitsOf(first), given.traitNames)) : trackOf(first);
      return postJson({
        url: `${base}/track/${isIdentify ? 'identify' : 'ce'}/`,
        headers: browserHeader(first),
        body: { project, host: project, ...told, ...visitorOf(first, nowMs) },
        events,
      });
    },
  };
}

/**
 * The visitor's identifiers (a stable device id, the customer's id, and the e-mail address unless a mapping sets the
 * properties),
 * with time, IP address and referrer.
 */
function visitorOf(outbound: OutboundEvent, nowMs: number): JsonObject {
  const { timeMs } = sentEvent(outbound);
  const { visitorId, externalId, email } = contactIds(outbound);
  const context = contextOf(outbound);
  const ip = textOf(context['ip']);
  return {
    cookie: cookieOf(visitorId),
    cv_id: externalId?.slice(0, idCharactersMax),
    ...(mappedProperties(outbound) === undefined ? { cv_email: email?.slice(0, idCharactersMax) } : {}),
    // Woopra refuses future times, and a client's clock may be some minutes ahead.
    timestamp: Math.min(timeMs, nowMs),
    ip: ip !== undefined && isIP(ip) !== 0 ? ip : undefined,
    referer: textOf(context['referrer'])?.slice(0, valueCharactersMax),
  };
}

const standardName = platformEventNames('Woopra');

function trackOf(outbound: OutboundEvent): JsonObject {
  const sent = sentEvent(outbound);
  const { name, properties } = sent;
  const event = standardName(sent) ?? lowerName(name);
  if (event === '') throw new UnfitEventError('the event has no name that Woopra accepts');
  const { current_url: url, title } = contextOf(outbound);
  return { event, ...prefixed('ce_', { url, title, ...properties }) };
}

/** Flat properties with a prefix and lower-case names, as Woopra requires; a list becomes one text. */
function prefixed(prefix: string, properties: JsonObject, depth = 0): JsonObject {
  const entries = Object.entries(properties).flatMap(([key, value]): readonly (readonly [string, unknown])[] => {
    const lower = lowerName(key);
    if (lower === '') return [];
    const name = lower.startsWith('cv_') ? lower : `${prefix}${lower}`;
    if (isJsonObject(value)) return depth < 3 ? Object.entries(prefixed(`${name}_`, value, depth + 1)) : [];
    const fit = valueOf(value);
    return fit === undefined ? [] : [[name, fit]];
  });
  return Object.fromEntries(entries.slice(0, propertiesMax));
}

function valueOf(value: unknown): string | number | boolean | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  const text = Array.isArray(value) ? value.filter((item) => typeof item === 'string').join(',') : textOf(value);
  return textOf(text)?.slice(0, valueCharactersMax).toWellFormed();
}

function lowerName(name: string): string {
  return name
    .slice(0, 200)
    .toWellFormed()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_|_$/g, '');
}

function cookieOf(visitorId: string): string {
  const fits = /^[\w-]+$/.test(visitorId) && visitorId.length <= cookieCharactersMax;
  return fits ? visitorId : hash('sha256', visitorId, 'hex').slice(0, cookieCharactersMax);
}

/** The visitor's User-Agent as a header, from which Woopra derives browser and device. */
function browserHeader(outbound: OutboundEvent): Record<string, string> {
  const userAgent = textOf(contextOf(outbound)['user_agent']);
  return userAgent !== undefined && isHeaderValue(userAgent) ? { 'user-agent': userAgent } : {};
}
