import { isIP } from 'node:net';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { jsonAnswer, rowRefusal } from '../sdk/answers.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { contextOf, isAlias, isIdentify, mappedProperties, sentEvent, textOf, traitsOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { postJson, withinBytes } from '../sdk/http.ts';
import { isLimited, limitedDataUse } from '../sdk/limited-data-use.ts';
import { baseUrl, choice, matching, optionalText, requiredSecret, requiredText, toggle } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { ga4ParameterName } from './names.ts';
import { ga4Event } from './payload.ts';
import { defaultCurrency } from '../sdk/reading-settings.ts';
import { integrationOptions } from '../sdk/integration-options.ts';
import { senderId } from '../sdk/sender-ids.ts';

const standardUrl = 'https://www.google-analytics.com';
const batchEventsMax = 25;
const bodyBytesMax = 130_000;
const userPropertiesMax = 25;

/** Names of Google Analytics in Segment and RudderStack. */
export const names = [
  'Google Analytics 4 Cloud',
  'Actions Google Analytic 4',
  'Actions Google Analytics 4',
  'Google Analytics 4',
  'GA4',
] as const;

type DefaultConsent = 'none' | 'GRANTED' | 'DENIED';

const settings = {
  measurementId: requiredText(
    {
      label: 'Measurement ID',
      placeholder: 'G-XXXXXXXXXX',
      sublabel:
        'From Admin, Data streams, your stream. For an app stream the Firebase app ID; its events need the property app_instance_id.',
      example: 'G-EXAMPLE123',
    },
    matching(
      /^(G-[A-Z0-9]{4,20}|\d{1,3}:\d{5,20}:(ios|android):[0-9a-f]{8,64})$/,
      'must be a measurement ID such as G-XXXXXXXXXX, or the Firebase app ID of an app stream',
    ),
  ),
  apiSecret: requiredSecret({
    label: 'API secret',
    sublabel: 'From Admin, Data streams, your stream, Measurement Protocol API secrets.',
    example: 'example-api-secret',
  }),
  userTraits: optionalText(
    {
      label: 'Traits as user properties',
      placeholder: 'plan, lifetime_value',
      sublabel: 'Traits to send with every event as user properties. Google forbids traits that identify a person.',
    },
    (text) => text.split(',').flatMap((name) => name.trim() || []),
  ),
  defaultConsent: choice<DefaultConsent>({
    label: 'Consent',
    options: [
      { label: 'Is not sent', value: 'none' },
      { label: 'Granted', value: 'GRANTED' },
      { label: 'Denied', value: 'DENIED' },
    ],
    sublabel: 'For ad_user_data and ad_personalization, unless the event has a property consent.',
    fallback: 'none',
  }),
  validateOnly: toggle({
    label: 'Validate only',
    sublabel:
      "Events go to Google's validation server and appear in no report. Its messages become the reasons of dead letters.",
  }),
  defaultCurrency: defaultCurrency('USD'),
  baseUrl: baseUrl(standardUrl),
};

/**
 * Google Analytics 4 through the Measurement Protocol, for web and app streams: up to 25 events of one client per
 * request.
 * https://developers.google.com/analytics/devguides/collection/protocol/ga4/reference
 *
 * Google always responds 2xx, even to a wrong secret, and silently drops what it does not accept, so names and values
 * are adapted to Google's rules here. The properties `client_id`, `user_id`, `ip_override`, `user_agent`,
 * `user_properties` and `consent`, which a mapping can set, are sent as request fields, not as event parameters. An
 * event with `limited_data_use` is sent with both consent members denied, whatever its `consent` grants.
 */
export const ga4MeasurementProtocol = defineDestination({
  id: 'GA4MeasurementProtocol',
  label: 'Google Analytics 4 (Measurement Protocol)',
  settings,
  facts: {
    sends: 'Every event but $identify',
    limits: { events: 25, bytes: 130_000 },
    deduplicatesBy: undefined,
    errors: 'not at all: it always responds 2xx',
    limitedUse: 'consent: ad_user_data and ad_personalization DENIED',
    consentTypes: ['ad_user_data', 'ad_personalization'],
    sources: [
      'https://developers.google.com/analytics/devguides/collection/protocol/ga4/reference',
      'https://developers.google.com/analytics/devguides/collection/protocol/ga4/validating-events',
    ],
    checked: '2026-11-27',
    version: 'unversioned',
    skips: {
      identify: 'user properties are sent with each event',
      alias: 'Google Analytics merges a device and a user from events that carry both ids',
    },
    namesElsewhere: names,
  },
  loadPlatform: async () => (await import('./platform.ts')).measurementProtocolPlatform,
  prepare: prepareMeasurementProtocol,
});

/**
 * Settings of every kind that sends Measurement Protocol events, to Google itself or to a Tag Manager server container.
 */
export type MeasurementProtocolSettings = Pick<
  SettingsOf<typeof settings>,
  'measurementId' | 'apiSecret' | 'baseUrl' | 'defaultCurrency'
> & {
  readonly userTraits?: readonly string[] | undefined;
  readonly validateOnly?: boolean;
  readonly defaultConsent?: DefaultConsent;
};

export function prepareMeasurementProtocol(given: MeasurementProtocolSettings): PreparedDestination {
  const isApp = !given.measurementId.startsWith('G-');
  const stream = { [isApp ? 'firebase_app_id' : 'measurement_id']: given.measurementId };
  const query = new URLSearchParams({ ...stream, api_secret: given.apiSecret });
  const { validateOnly = false } = given;
  const url = `${given.baseUrl}${validateOnly ? '/debug' : ''}/mp/collect?${query.toString()}`;
  return {
    batchEventsMax: validateOnly ? 1 : batchEventsMax,
    accepts: (event) => !isIdentify(event) && !isAlias(event),
    groupOf: (event) => JSON.stringify(clientOf(event, isApp, given)),
    buildRequest(events, nowMs) {
      const [first] = events;
      if (first === undefined) throw new UnfitEventError('the request has no event');
      if (isApp && events.some((event) => clientOf(event, isApp, given)['app_instance_id'] === undefined)) {
        throw new UnfitEventError('an event of an app stream needs app_instance_id');
      }
      const body = {
        ...clientOf(first, isApp, given),
        validation_behavior: validateOnly ? 'ENFORCE_RECOMMENDATIONS' : undefined,
        events: events.map((event) => eventOf(event, given, nowMs)),
      };
      return withinBytes(postJson({ url, body, events }), bodyBytesMax);
    },
    ...(validateOnly ? { readAnswer: readValidation } : {}),
  };
}

/**
 * The outcome of a validation request, which has one event. Undefined if the response has no messages: the event is
 * valid.
 */
function readValidation(answer: OutboundAnswer, events: readonly OutboundEvent[]): readonly Outcome[] | undefined {
  const messages = answer.status === 200 ? jsonAnswer(answer)?.['validationMessages'] : undefined;
  const first = Array.isArray(messages) ? messages.find(isJsonObject) : undefined;
  if (first === undefined) return undefined;
  return events.map(() => ({ kind: 'reject', reason: rowRefusal(first['validationCode'], first['fieldPath']) }));
}

/** The request fields that all its events share: client, user, browser, user properties and consent. */
function clientOf(outbound: OutboundEvent, isApp: boolean, given: MeasurementProtocolSettings): JsonObject {
  const { userTraits = [], defaultConsent } = given;
  const sent = sentEvent(outbound);
  const { properties, context, visitor } = sent;
  const told = mappedProperties(outbound) === undefined;
  const shared = contextOf(outbound);
  const options = told ? integrationOptions(sent, names) : {};
  const ip = textOf(properties['ip_override']) ?? textOf(shared['ip']);
  const clientId =
    textOf(properties['client_id']) ??
    textOf(options['clientId'] ?? options['client_id']) ??
    (told ? senderId(sent, 'ga4ClientId') : undefined) ??
    textOf(context['ga_client_id']) ??
    textOf(visitor.custom_properties['ga_client_id']) ??
    visitor.id;
  return {
    ...(isApp ? { app_instance_id: appInstanceOf(sent, options) } : { client_id: clientId }),
    user_id: (textOf(properties['user_id']) ?? (told ? textOf(visitor.external_id) : undefined))?.slice(0, 256),
    ip_override: ip !== undefined && isIP(ip) !== 0 ? ip : undefined,
    user_agent: (textOf(properties['user_agent']) ?? textOf(shared['user_agent']))?.slice(0, 1_000),
    user_properties: userPropertiesOf({ ...traitsNamed(outbound, userTraits), ...userPropertiesIn(properties) }),
    consent: isLimited(sent) ? bothAre('DENIED') : (consentOf(properties['consent']) ?? bothAre(defaultConsent)),
  };
}

/** The id that Firebase assigns to an installed app; only the app can send it. */
function appInstanceOf({ properties, context }: SentEvent, options: JsonObject): string | undefined {
  const id = properties['app_instance_id'] ?? options['app_instance_id'] ?? context['app_instance_id'];
  return textOf(id) ?? senderId({ context }, 'ga4AppInstanceId');
}

function eventOf(outbound: OutboundEvent, given: MeasurementProtocolSettings, nowMs: number): JsonObject {
  const event = sentEvent(outbound, given);
  const {
    client_id: _clientId,
    app_instance_id: _appInstanceId,
    user_id: _userId,
    ip_override: _ip,
    user_agent: _userAgent,
    user_properties: _userProperties,
    consent: _consent,
    [limitedDataUse]: _limited,
    ...properties
  } = event.properties;
  const options = mappedProperties(outbound) === undefined ? integrationOptions(event, names) : {};
  const session = options['sessionId'] ?? options['session_id'];
  const context = contextOf(outbound);
  return ga4Event({ ...event, properties }, session === undefined ? context : { ...context, sid: session }, nowMs);
}

const userPropertiesIn = ({ user_properties: given }: JsonObject): JsonObject => (isJsonObject(given) ? given : {});

function traitsNamed(outbound: OutboundEvent, names: readonly string[]): JsonObject {
  if (names.length === 0 || mappedProperties(outbound) !== undefined) return {};
  const traits = traitsOf(outbound);
  return Object.fromEntries(names.map((name) => [name, traits[name]]));
}

function userPropertiesOf(given: JsonObject): JsonObject | undefined {
  const entries = Object.entries(given).flatMap(([key, value]) => {
    const name = ga4ParameterName(key, 24);
    const fit = typeof value === 'string' ? value.slice(0, 36).toWellFormed() : value;
    const isFit = typeof fit === 'string' || typeof fit === 'number';
    return name !== undefined && isFit ? [[name, { value: fit }] as const] : [];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries.slice(0, userPropertiesMax));
}

function bothAre(word: DefaultConsent = 'none'): JsonObject | undefined {
  return word === 'none' ? undefined : { ad_user_data: word, ad_personalization: word };
}

function consentOf(given: unknown): JsonObject | undefined {
  if (!isJsonObject(given)) return undefined;
  const entries = ['ad_user_data', 'ad_personalization'].flatMap((name) => {
    const value = given[name];
    return value === 'GRANTED' || value === 'DENIED' ? [[name, value] as const] : [];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
