import { md5 } from '../../routing/modifications/digests.ts';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { defineDestination, onlyEvent, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundEvent, OutboundRequest, PreparedDestination } from '../sdk/destination.ts';
import {
  acceptsCustomerEvents,
  contextOf,
  isIdentify,
  propertiesOf,
  sentEvent,
  textOf,
  traitsOf,
} from '../sdk/event.ts';
import { subscriptionOf, subscriptionSettings } from '../sdk/subscriptions.ts';
import { textForm } from '../../routing/values/value-forms.ts';
import { basicAuthorization } from '../../egress/basic-authorization.ts';
import { chainOf, postJson } from '../sdk/http.ts';
import { present } from '../sdk/json.ts';
import { contactIds, normaliseEmail } from '../sdk/person.ts';
import { pairList } from '../sdk/setting-lists.ts';
import type { Pair } from '../sdk/setting-lists.ts';
import { choice, matching, optionalBaseUrl, optionalText, requiredText, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { nameIn } from '../sdk/person-name.ts';
import { eraseAtMailchimp } from './erase.ts';

const nameCharactersMax = 30;
const valueCharactersMax = 2_000;
const propertiesMax = 50;

const settings = {
  apiKey: token({
    label: 'API key',
    placeholder: '…-us21',
    sublabel: 'From Account, Extras, API keys. The end of the key names the data centre.',
    example: '0123456789abcdef0123456789abcdef-us21',
  }),
  audienceId: requiredText(
    {
      label: 'Audience ID',
      placeholder: 'a1b2c3d4e5',
      sublabel: 'From Audience, Settings, Audience name and defaults.',
      example: 'a1b2c3d4e5',
    },
    matching(/^[A-Za-z0-9]{1,32}$/, 'must be letters and digits'),
  ),
  newMembers: choice({
    label: 'New members are',
    sublabel: 'For people whom Mailchimp does not know yet. Existing members keep their status.',
    options: [
      { label: 'Subscribed', value: 'subscribed' },
      { label: 'Asked to confirm', value: 'pending' },
      { label: 'Transactional only', value: 'transactional' },
    ],
    fallback: 'transactional',
    example: 'transactional',
  }),
  mergeFields: pairList({
    label: 'Merge fields',
    placeholder: 'plan = PLAN, job_title = JOB',
    sublabel: 'Visitor properties in addition to name, phone, address and birthday, each with its merge tag.',
    example: 'plan=PLAN',
    value: /^[A-Z][A-Z0-9_]{0,9}$/,
  }),
  interests: pairList({
    label: 'Interests',
    placeholder: 'wants_news = 9143cf3bd1, wants_offers = 3a2a927344',
    sublabel: 'True-or-false traits, each with the ID of the interest (group name) to set or clear.',
    value: /^[0-9a-z]{6,20}$/,
  }),
  tags: optionalText(
    {
      label: 'Tags',
      placeholder: 'customer, sluice',
      sublabel: 'Added to every member from an $identify, separated by commas.',
    },
    readTags,
  ),
  tagsProperty: optionalText({
    label: 'Trait with tags',
    placeholder: 'tags',
    sublabel: 'A trait with the tags to add to the member: a list, or text with commas.',
  }),
  subscribeEvents: subscriptionSettings.subscribeEvents,
  unsubscribeEvents: subscriptionSettings.unsubscribeEvents,
  baseUrl: optionalBaseUrl('https://us21.api.mailchimp.com'),
};

/**
 * Mailchimp Marketing API 3.0: the visitor of an $identify with `PUT /3.0/lists/{audience}/members/{hash}`
 * (https://mailchimp.com/developer/marketing/api/list-members/add-or-update-list-member/), an event with `POST
 * …/members/{hash}/events` (https://mailchimp.com/developer/marketing/api/list-member-events/add-event/); one per
 * request. Unlike the bulk call, the `PUT` does not reset the status of people who unsubscribed. Events of people who
 * are not members fail with 404. Event names have 2 to 30 letters, digits, `_` and `-`, and values are texts. Mailchimp
 * does not deduplicate; it allows ten simultaneous connections and responds 429 beyond that.
 */
export const mailchimp = defineDestination({
  id: 'Mailchimp',
  label: 'Mailchimp',
  settings,
  facts: {
    sends: 'Every event of a member; $identify creates or updates a member',
    limits: { events: 1, rate: '10 connections at once' },
    deduplicatesBy: undefined,
    errors: 'status; 404 for an event of a visitor who is not a member',
    sources: [
      'https://mailchimp.com/developer/marketing/api/list-members/add-or-update-list-member/',
      'https://mailchimp.com/developer/marketing/api/list-member-events/add-event/',
    ],
    checked: '2026-11-27',
    version: { name: '3.0', ends: undefined },
    notCarried: ['several members in one request: that call would reset the status of people who unsubscribed'],
    skips: { group: 'an audience has no groups', alias: 'members are identified by e-mail address only' },
  },
  loadPlatform: async () => (await import('./platform.ts')).mailchimpPlatform,
  exampleSuccess: { status: 204, body: '' },
  prepare,
  erase: (given) => eraseAtMailchimp(membersUrl(given), headersOf(given)),
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const members = membersUrl(given);
  const headers = headersOf(given);
  return {
    batchEventsMax: 1,
    accepts: (event) => isIdentify(event) || acceptsCustomerEvents(event),
    buildRequest(events): OutboundRequest {
      const event = onlyEvent(events);
      const email = emailOf(event);
      const url = `${members}/${md5(email)}`;
      // Else Mailchimp refuses a member, and so an opt-out, without a value for a required merge field.
      const put = (body: JsonObject): OutboundRequest => ({
        ...postJson({ url: `${url}?skip_merge_validation=true`, headers, body, events }),
        method: 'PUT',
      });
      if (isIdentify(event)) {
        const tags = tagsOf(event, given);
        const tagged = postJson({ url: `${url}/tags`, headers, body: { tags }, events });
        return chainOf([put(member(event, email, given)), ...(tags.length === 0 ? [] : [tagged])]);
      }
      const subscription = subscriptionOf(event, { ...given, channels: 'email' });
      const status = subscription?.action === 'subscribe' ? 'subscribed' : 'unsubscribed';
      return chainOf([
        // The subscription precedes the event because Mailchimp refuses events of unknown people.
        ...(subscription === undefined ? [] : [put({ email_address: email, status_if_new: status, status })]),
        postJson({ url: `${url}/events`, headers, body: eventBody(event), events }),
      ]);
    },
  };
}

function membersUrl(given: Given): string {
  const dataCentre = /-([a-z]+\d+)$/.exec(given.apiKey)?.[1] ?? 'us1';
  const base = given.baseUrl ?? `https://${dataCentre}.api.mailchimp.com`;
  return `${base}/3.0/lists/${given.audienceId}/members`;
}

const headersOf = (given: Given) => ({ authorization: basicAuthorization('sluice', given.apiKey) });

function emailOf(event: OutboundEvent): string {
  const { email } = contactIds(event);
  const known = email === undefined ? undefined : normaliseEmail(email);
  if (known === undefined) throw new UnfitEventError('Mailchimp needs an e-mail address');
  return known;
}

type Given = SettingsOf<typeof settings>;

function member(event: OutboundEvent, email: string, given: Given): JsonObject {
  const traits = traitsOf(event);
  const { firstName, lastName } = nameIn(traits);
  const fields = present({
    ...ownFields(traits, given.mergeFields),
    FNAME: firstName,
    LNAME: lastName,
    PHONE: contactIds(event).phone,
    ADDRESS: addressOf(traits),
    BIRTHDAY: birthdayOf(traits['date_of_birth']),
  });
  const language = languageOf(event);
  const interests = interestsOf(traits, given.interests);
  return {
    email_address: email,
    status_if_new: given.newMembers,
    ...present({ merge_fields: fields, interests, language }),
  };
}

/**
 * Interests by id, from traits. An interest whose trait is neither true nor false is left out, so it remains unchanged.
 */
function interestsOf(traits: JsonObject, pairs: readonly Pair[]): JsonObject | undefined {
  const chosen = pairs.flatMap(([trait, interest]) => {
    const value = textForm(traits[trait])?.toLowerCase();
    return value === 'true' || value === 'false' ? [[interest, value === 'true'] as const] : [];
  });
  return present(Object.fromEntries(chosen));
}

const tagsMax = 100;

/** Tags to add, from the settings and the trait. A member keeps tags that are no longer listed. */
function tagsOf(event: OutboundEvent, { tags = [], tagsProperty }: Given): readonly JsonObject[] {
  const given = tagsProperty === undefined ? undefined : traitsOf(event)[tagsProperty.trim()];
  const own = Array.isArray(given) ? given : typeof given === 'string' ? given.split(',') : [];
  const named = own.flatMap((tag) => textOf(textForm(tag)?.trim()) ?? []);
  return [...new Set([...tags, ...named])].slice(0, tagsMax).map((name) => ({ name, status: 'active' }));
}

/** Mailchimp's language code, almost always two letters: https://mailchimp.com/help/view-and-edit-contact-languages/ */
function languageOf(event: OutboundEvent): string | undefined {
  const locale = textOf(contextOf(event)['locale']) ?? textOf(contextOf(event)['browser_language']);
  const code = locale?.replace('-', '_');
  if (code === 'pt_PT' || code === 'es_ES' || code === 'fr_CA') return code;
  return /^[a-z]{2}(?=$|_)/.exec(code ?? '')?.[0];
}

function readTags(text: string): readonly string[] {
  return text.split(',').flatMap((tag) => tag.trim() || []);
}

/** Merge fields from the traits that the settings assign to them. */
function ownFields(traits: JsonObject, fields: readonly Pair[]): JsonObject {
  const entries = fields.flatMap(([trait, field]) => {
    const value = traits[trait];
    return ['string', 'number'].includes(typeof value) ? [[field, value] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** The address; undefined without street, city, state or postal code, all of which Mailchimp requires. */
function addressOf(traits: JsonObject): JsonObject | undefined {
  const { city, state, zip, country } = traits;
  const own = traits['address'];
  const street = isJsonObject(own) ? textOf(own['street']) : textOf(own);
  if (street === undefined || [city, state, zip].some((part) => textOf(part) === undefined)) return undefined;
  return { addr1: street, city, state, zip, ...present({ country: textOf(country) }) };
}

/** The birthday as `MM/DD`, from a date that starts with `YYYY-MM-DD`; undefined for other values. */
function birthdayOf(value: unknown): string | undefined {
  const [, month, day] = /^\d{4}-(\d\d)-(\d\d)/.exec(textOf(value) ?? '') ?? [];
  return month === undefined || day === undefined ? undefined : `${month}/${day}`;
}

function eventBody(event: OutboundEvent): JsonObject {
  const { name, timeMs } = sentEvent(event);
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '_')
    .slice(0, nameCharactersMax);
  if (plain.length < 2) throw new UnfitEventError('the event has no name that Mailchimp accepts');
  return { name: plain, occurred_at: new Date(timeMs).toISOString(), properties: texts(propertiesOf(event)) };
}

function texts(properties: JsonObject): JsonObject | undefined {
  const entries = Object.entries(properties)
    .filter(([, value]) => value !== null && value !== undefined)
    .slice(0, propertiesMax)
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return [name, text.slice(0, valueCharactersMax).toWellFormed()];
    });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
