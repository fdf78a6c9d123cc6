import type { JsonObject } from '../../runtime/json.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundEvent, OutboundRequest, PreparedDestination } from '../sdk/destination.ts';
import { isAboutIds, isIdentify, propertiesOf, sentEvent, traitsOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { present, withoutMembers } from '../sdk/json.ts';
import { contactIds } from '../sdk/person.ts';
import type { ContactIds } from '../sdk/person.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { baseUrl, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { defaultCurrency } from '../sdk/reading-settings.ts';
import { nameIn } from '../sdk/person-name.ts';

const standardUrl = 'https://a.klaviyo.com';
/** The revision of the API this kind was written against; Klaviyo serves one for two years. */
const revision = '2026-07-15';
const metricNameCharactersMax = 127;
/** Older than this an event is history. */
const backfillMs = 86_400_000;

/** Traits that have a place of their own in a profile. */
const profileFields: ReadonlySet<string> = new Set([
  'email',
  'phone_number',
  'first_name',
  'last_name',
  'company_name',
  'job_title',
  'city',
  'state',
  'zip',
  'country',
]);

const settings = {
  privateApiKey: token({
    label: 'Private API key',
    placeholder: 'pk_…',
    sublabel: 'With the scopes events:write and profiles:write.',
    example: 'pk_example',
  }),
  defaultCurrency: defaultCurrency(),
  baseUrl: baseUrl(standardUrl),
};

/**
 * Klaviyo, in JSON:API: an event by `POST /api/events` (https://developers.klaviyo.com/en/reference/create_event), the
 * profile of an $identify by `POST /api/profile-import`
 * (https://developers.klaviyo.com/en/reference/create_or_update_profile). One event a request: the endpoint for many
 * answers before it has looked at them. The event's id is `unique_id`, by which Klaviyo keeps only the first of equals.
 * Standard events go by the names of Klaviyo's own metrics; an event of more than a day ago is sent as `backfill`.
 */
export const klaviyo = defineDestination({
  id: 'Klaviyo',
  label: 'Klaviyo',
  settings,
  facts: {
    sends: 'Every event as a metric; $identify sets the profile',
    limits: { events: 1, bytes: 5_000_000 },
    deduplicatesBy: 'unique_id',
    errors: 'status, one event a request',
    sources: [
      'https://developers.klaviyo.com/en/reference/create_event',
      'https://developers.klaviyo.com/en/reference/create_or_update_profile',
    ],
    checked: '2026-11-22',
    version: { name: revision, ends: '2028-07-15' },
    namesElsewhere: ['KLAVIYO_BULK_UPLOAD'],
  },
  loadPlatform: async () => (await import('./platform.ts')).klaviyoPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const baseUrl = given.baseUrl;
  const headers = {
    authorization: `Klaviyo-API-Key ${given.privateApiKey}`,
    accept: 'application/vnd.api+json',
    'content-type': 'application/vnd.api+json',
    revision,
  };
  return {
    batchEventsMax: 1,
    accepts: (event) => !isAboutIds(event),
    buildRequest(events, nowMs): OutboundRequest {
      const [event] = events;
      if (event === undefined) throw new UnfitEventError('there is no event to send');
      const ids = contactIds(event);
      if (ids.externalId === undefined && ids.email === undefined && ids.phone === undefined) {
        throw new UnfitEventError('Klaviyo needs an e-mail address, a phone number or an external id');
      }
      return isIdentify(event)
        ? postJson({ url: `${baseUrl}/api/profile-import`, headers, body: { data: profile(event, ids) }, events })
        : postJson({
            url: `${baseUrl}/api/events`,
            headers,
            body: { data: klaviyoEvent(sentEvent(event, given), event, ids, nowMs) },
            events,
          });
    },
  };
}

const standardName = platformEventNames('Klaviyo');

function klaviyoEvent(sent: SentEvent, event: OutboundEvent, ids: ContactIds, nowMs: number): JsonObject {
  const { id, name, timeMs } = sent;
  const properties = propertiesOf(event);
  const { value, currency } = commerceOf({ ...sent, properties });
  const metric = (standardName(sent) ?? name).slice(0, metricNameCharactersMax);
  return {
    type: 'event',
    attributes: {
      properties,
      time: new Date(timeMs).toISOString(),
      value,
      value_currency: value === undefined ? undefined : currency,
      unique_id: id,
      // What comes late, of a replay or an import, starts no flow.
      backfill: nowMs - timeMs > backfillMs ? true : undefined,
      metric: { data: { type: 'metric', attributes: { name: metric } } },
      profile: { data: { type: 'profile', attributes: identifiers(ids) } },
    },
  };
}

function profile(event: OutboundEvent, ids: ContactIds): JsonObject {
  const traits = traitsOf(event);
  const { city, state, zip, country } = traits;
  const name = nameIn(traits);
  return {
    type: 'profile',
    attributes: {
      ...identifiers(ids),
      first_name: name.firstName,
      last_name: name.lastName,
      organization: traits['company_name'],
      title: traits['job_title'],
      location: present({ city, region: state, zip, country }),
      properties: withoutMembers(traits, profileFields),
    },
  };
}

function identifiers({ externalId, email, phone, visitorId }: ContactIds): JsonObject {
  return { external_id: externalId, email, phone_number: phone, anonymous_id: visitorId };
}
