import type { JsonObject } from '../../runtime/json.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import { defineDestination, onlyEvent, UnfitEventError } from '../sdk/destination.ts';
import type {
  OutboundAnswer,
  OutboundEvent,
  OutboundRequest,
  Outcome,
  PreparedDestination,
} from '../sdk/destination.ts';
import { acceptsCustomerEvents, isIdentify, outboundName, propertiesOf, traitsOf } from '../sdk/event.ts';
import { chainOf, postForm, postJson } from '../sdk/http.ts';
import { present } from '../sdk/json.ts';
import { contactIds } from '../sdk/person.ts';
import {
  address,
  optionalBaseUrl,
  optionalText,
  readBaseUrl,
  requiredSecret,
  requiredText,
  SettingError,
  token,
} from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { nameIn } from '../sdk/person-name.ts';
import { subscriptionOf, subscriptionSettings } from '../sdk/subscriptions.ts';
import { eraseAtActiveCampaign } from './erase.ts';

const trackerUrl = 'https://trackcmp.net';
const nameCharactersMax = 32;
const dataCharactersMax = 4_000;
const fieldsMax = 200;

const settings = {
  apiUrl: address(
    requiredText(
      {
        label: 'API URL',
        placeholder: 'https://example.api-us1.com',
        sublabel: 'Settings, Developer.',
        example: 'https://example.api-us1.com',
      },
      readBaseUrl,
    ),
  ),
  apiKey: token({ label: 'API key', sublabel: 'Next to the URL.', example: 'example-api-key' }),
  accountId: requiredText({
    label: 'Event account ID',
    placeholder: '123456789',
    sublabel: 'The actid from Website, Site tracking, Event tracking. Event tracking must be on.',
    example: '123456789',
  }),
  eventKey: requiredSecret({
    label: 'Event key',
    sublabel: 'Next to the event account ID.',
    example: 'example-event-key',
  }),
  customFields: optionalText(
    {
      label: 'Custom fields',
      placeholder: '{"plan": 1}',
      sublabel: 'A JSON object that maps trait names to custom field numbers.',
    },
    readFields,
  ),
  tags: optionalText(
    { label: 'Tags', placeholder: 'customer, sluice', sublabel: 'Added to every contact from an $identify.' },
    namesIn,
  ),
  tagsProperty: optionalText({
    label: 'Trait with tags',
    placeholder: 'tags',
    sublabel: 'A trait with the tags to add to the contact: a list, or text with commas.',
  }),
  lists: optionalText(
    {
      label: 'Lists',
      placeholder: '1, 2',
      sublabel:
        'Numbers of the lists that subscribing events add the contact to, and unsubscribing events remove it from.',
    },
    readLists,
  ),
  subscribeEvents: subscriptionSettings.subscribeEvents,
  unsubscribeEvents: subscriptionSettings.unsubscribeEvents,
  baseUrl: optionalBaseUrl(trackerUrl),
};

/**
 * ActiveCampaign: an $identify becomes a contact with `POST /api/3/contact/sync`
 * (https://developers.activecampaign.com/reference/sync-a-contacts-data). Any other event is sent as a form with `POST
 * https://trackcmp.net/event` (https://developers.activecampaign.com/reference/track-event). One event per request.
 * Both identify the visitor by e-mail address, without which an event is refused. The tracker has no field for the
 * event time, and always responds 200 with the result in the body. Custom fields are named by the numbers that
 * ActiveCampaign assigns.
 */
export const activeCampaignApi = defineDestination({
  id: 'ActiveCampaignApi',
  label: 'ActiveCampaign',
  settings,
  facts: {
    sends: 'Every event; $identify creates or updates a contact',
    limits: { events: 1, rate: '5 requests per second' },
    deduplicatesBy: undefined,
    errors: 'events: `success` in a 200; contacts: the status',
    sources: [
      'https://developers.activecampaign.com/reference/track-event',
      'https://developers.activecampaign.com/reference/sync-a-contacts-data',
    ],
    checked: '2026-11-22',
    version: { name: '3', ends: undefined },
    notCarried: ["site tracking, which needs ActiveCampaign's own script in the browser"],
    skips: {
      group: 'ActiveCampaign accounts (companies): this kind does not write them',
      alias: 'contacts are identified by e-mail address only',
    },
    namesElsewhere: ['ActiveCampaign'],
  },
  loadPlatform: async () => (await import('./platform.ts')).activeCampaignApiPlatform,
  exampleSuccess: { status: 200, body: '{"success":1,"message":"Event spawned"}' },
  prepare,
  erase: eraseAtActiveCampaign,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  return {
    batchEventsMax: 1,
    accepts: (event) => isIdentify(event) || acceptsCustomerEvents(event),
    buildRequest(events) {
      const event = onlyEvent(events);
      const { email } = contactIds(event);
      if (email === undefined) throw new UnfitEventError('ActiveCampaign needs an e-mail address');
      const main = isIdentify(event) ? syncContact(given, event, email) : trackEvent(given, event, email);
      const imported = importOf(given, event);
      if (imported === undefined) return main;
      const url = `${given.baseUrl ?? given.apiUrl}/api/3/import/bulk_import`;
      const body = { contacts: [{ email, ...imported }] };
      const importing = postJson({ url, headers: { 'api-token': given.apiKey }, body, events });
      // The tracker counts a repeated event again, so it comes last; the importer may repeat.
      return chainOf(isIdentify(event) ? [main, importing] : [importing, main]);
    },
    readAnswer: (answer, [event]) => (event === undefined || isIdentify(event) ? undefined : readTracked(answer)),
  };
}

type Given = SettingsOf<typeof settings>;

function syncContact(given: Given, event: OutboundEvent, email: string): OutboundRequest {
  const traits = traitsOf(event);
  const fieldValues = Object.entries(given.customFields ?? {}).flatMap(([trait, field]) => {
    const value = traits[trait];
    return value === undefined || value === null ? [] : { field, value: textOfValue(value) };
  });
  const contact = {
    email,
    ...present({
      ...nameIn(traits),
      phone: contactIds(event).phone,
      fieldValues,
    }),
  };
  const url = `${given.baseUrl ?? given.apiUrl}/api/3/contact/sync`;
  return postJson({ url, headers: { 'api-token': given.apiKey }, body: { contact }, events: [event] });
}

const tagsMax = 100;

/**
 * A contact's tags (for $identify) or list subscriptions (for other events), in the form of the importer, since only
 * the importer accepts tags by name: https://developers.activecampaign.com/reference/bulk-import-contacts. Undefined if
 * there are none.
 */
function importOf(given: Given, event: OutboundEvent): JsonObject | undefined {
  const { tags = [], tagsProperty, lists = [] } = given;
  if (isIdentify(event)) {
    const trait = tagsProperty === undefined ? undefined : traitsOf(event)[tagsProperty.trim()];
    const own = Array.isArray(trait) ? trait.map(String) : typeof trait === 'string' ? namesIn(trait) : [];
    const all = [...new Set([...tags, ...own])].filter((tag) => tag.trim() !== '').slice(0, tagsMax);
    return all.length === 0 ? undefined : { tags: all };
  }
  const subscription = subscriptionOf(event, { ...given, channels: 'email' });
  if (subscription === undefined) return undefined;
  if (lists.length === 0) throw new UnfitEventError('a subscription needs list numbers in the setting lists');
  return { [subscription.action]: lists.map((listid) => ({ listid })) };
}

function namesIn(text: string): readonly string[] {
  return text.split(',').flatMap((name) => name.trim() || []);
}

function readLists(text: string, key: string): readonly number[] {
  const lists = namesIn(text);
  if (!lists.every((list) => /^[1-9]\d{0,9}$/.test(list))) throw new SettingError(key, 'must be list numbers');
  return lists.map(Number);
}

function trackEvent(given: Given, event: OutboundEvent, email: string): OutboundRequest {
  const body = {
    actid: given.accountId.trim(),
    key: given.eventKey.trim(),
    event: outboundName(event).slice(0, nameCharactersMax),
    eventdata: eventData(propertiesOf(event)),
    visit: JSON.stringify({ email }),
  };
  return postForm({ url: `${given.baseUrl ?? trackerUrl}/event`, body, events: [event] });
}

/** The event's properties as JSON, the only value that a tracked event can carry. Undefined if empty or too long. */
function eventData(properties: JsonObject): string | undefined {
  const text = JSON.stringify(properties);
  return text === '{}' || text.length > dataCharactersMax ? undefined : text;
}

/**
 * A value as the text of a custom field. The items of a list are separated by double bars, which also enclose the list.
 */
function textOfValue(value: unknown): string {
  if (Array.isArray(value)) return `||${value.filter((item) => typeof item !== 'object').join('||')}||`;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function readTracked(answer: OutboundAnswer): readonly Outcome[] | undefined {
  if (answer.status !== 200) return undefined;
  const said = jsonAnswer(answer);
  // The importer's answer need not contain `success`.
  if (said?.['queued_contacts'] !== undefined) return undefined;
  const success = said?.['success'];
  if (success === undefined)
    return [{ kind: 'retry', reason: 'the response does not say whether the event was accepted' }];
  return Number(success) === 1
    ? [{ kind: 'delivered' }]
    : [
        {
          kind: 'reject',
          reason: 'ActiveCampaign refused the event: event tracking is off, or key and account do not match',
        },
      ];
}

function readFields(text: string, key: string): Readonly<Record<string, string>> {
  const entries = Object.entries(parseObject(text, key));
  if (entries.length > fieldsMax) throw new SettingError(key, `must name at most ${fieldsMax} fields`);
  return Object.fromEntries(
    entries.map(([trait, field]) => {
      const number = String(field);
      if (!/^\d{1,12}$/.test(number)) throw new SettingError(key, 'must contain custom field numbers');
      return [trait, number];
    }),
  );
}

function parseObject(text: string, key: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Text that is not JSON is refused below, as is JSON that is not an object.
  }
  throw new SettingError(key, 'must be a JSON object of field numbers');
}
