import { isIP } from 'node:net';
import type { JsonObject } from '../../runtime/json.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { isAboutIds, isIdentify, sentEvent, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { isHeaderValue } from '../sdk/header-rules.ts';
import { postJson } from '../sdk/http.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { baseUrl, matching, requiredText } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { defaultCurrency } from '../sdk/reading-settings.ts';
import { nothingKept } from '../sdk/erasure.ts';

const standardUrl = 'https://plausible.io';
const nameCharactersMax = 120;
const urlCharactersMax = 2_000;
const propsMax = 30;
const propNameCharactersMax = 300;
const propValueCharactersMax = 2_000;

const settings = {
  domain: requiredText(
    {
      label: 'Domain',
      placeholder: 'example.com',
      sublabel: "The site's name in Plausible.",
      example: 'example.com',
    },
    matching(/^[a-z0-9][a-z0-9.:/_-]{0,252}$/i, 'must be a domain name'),
  ),
  defaultCurrency: defaultCurrency('USD'),
  baseUrl: baseUrl(standardUrl),
};

/**
 * Plausible Analytics, hosted or self-hosted. https://plausible.io/docs/events-api
 *
 * Plausible stores no visitors, but distinguishes them by the IP address and browser of a request. The request
 * therefore carries the visitor's IP address and browser, and an event without a browser is refused. There is no field
 * for the event time, so an event counts at the time of arrival.
 */
export const plausible = defineDestination({
  id: 'Plausible',
  label: 'Plausible',
  settings,
  facts: {
    sends: 'Every event but $identify',
    limits: { events: 1 },
    deduplicatesBy: undefined,
    errors: 'status, and a header for dropped events',
    sources: ['https://plausible.io/docs/events-api'],
    checked: '2026-11-22',
    version: 'unversioned',
    skips: {
      identify: 'Plausible has no user profiles',
      group: 'Plausible has no user profiles',
      alias: 'Plausible has no user profiles',
    },
  },
  loadPlatform: async () => (await import('./platform.ts')).plausiblePlatform,
  prepare,
  erase: () => nothingKept('Plausible stores no visitors.'),
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const { domain } = given;
  const url = `${given.baseUrl}/api/event`;
  return {
    batchEventsMax: 1,
    accepts: (event) => !isIdentify(event) && !isAboutIds(event),
    buildRequest(events) {
      const [first] = events;
      if (first === undefined) throw new UnfitEventError('the request has no event');
      const event = sentEvent(first, given);
      return postJson({ url, headers: visitorHeaders(event), body: bodyOf(event, domain), events });
    },
    readAnswer,
  };
}

/** The headers by which Plausible distinguishes visitors. Throws UnfitEventError without a valid User-Agent. */
function visitorHeaders({ context }: SentEvent): Record<string, string> {
  const userAgent = textOf(context['user_agent']);
  if (userAgent === undefined || !isHeaderValue(userAgent)) {
    throw new UnfitEventError('the event has no valid user agent');
  }
  const ip = textOf(context['ip']);
  return { 'user-agent': userAgent, ...(ip !== undefined && isIP(ip) !== 0 ? { 'x-forwarded-for': ip } : {}) };
}

const standardName = platformEventNames('Plausible');

function bodyOf(event: SentEvent, domain: string): JsonObject {
  const { name, properties, context } = event;
  const { currency: _currency, ...others } = properties;
  const { value: amount, currency } = commerceOf(event);
  const isRevenue = amount !== undefined && currency !== undefined;
  return {
    domain,
    name: standardName(event) ?? name.slice(0, nameCharactersMax).toWellFormed(),
    url: cutUrl(context['current_url']) ?? `https://${domain}/`,
    referrer: cutUrl(context['referrer']),
    props: propsOf(isRevenue ? others : properties),
    revenue: isRevenue ? { currency, amount } : undefined,
  };
}

function cutUrl(value: unknown): string | undefined {
  return textOf(value)?.slice(0, urlCharactersMax).toWellFormed();
}

/** Custom properties: at most 30 texts, numbers and booleans, since Plausible accepts no others. */
function propsOf(properties: JsonObject): JsonObject | undefined {
  const entries = Object.entries(properties)
    .filter(([name, value]) => name !== '' && ['string', 'number', 'boolean'].includes(typeof value))
    .slice(0, propsMax)
    .map(([name, value]) => [
      name.slice(0, propNameCharactersMax).toWellFormed(),
      typeof value === 'string' ? value.slice(0, propValueCharactersMax).toWellFormed() : value,
    ]);
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as JsonObject);
}

/**
 * Plausible responds 202 even if it drops the event, as it does for robots, data centres, visitors that the site's
 * shields block, and unknown sites; only a header shows this.
 */
function readAnswer(
  { status, headers }: OutboundAnswer,
  events: readonly OutboundEvent[],
): readonly Outcome[] | undefined {
  if (status >= 300 || headers['x-plausible-dropped'] !== '1') return undefined;
  const reason = 'Plausible dropped the event: a robot, a shield of the site, or an unknown domain';
  return events.map(() => ({ kind: 'dropped', reason }));
}
