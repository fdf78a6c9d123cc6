import { defineDestination } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { isIdentify, sentEvent } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { baseUrl, batchSize, optionalText, SettingError, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { contactInputs, hubspotEvent, isQualified, readContactAnswer } from './payload.ts';

const standardUrl = 'https://api.hubapi.com';
// Contacts travel in hundreds; events could in five hundreds.
const batch = { max: 100, fallback: 100 };

const settings = {
  accessToken: token({
    label: 'Access token',
    placeholder: 'pat-…',
    sublabel: 'Of a private app with the scopes analytics.behavioral_events.send and crm.objects.contacts.write.',
    example: 'pat-example',
  }),
  hubId: optionalText(
    {
      label: 'Hub ID',
      placeholder: '12345678',
      sublabel:
        'With it each event becomes the custom event pe<Hub ID>_<name>, which must be defined in HubSpot; without it only events are sent that a mapping gives such a name.',
      example: '12345678',
    },
    readHubId,
  ),
  contactProperties: optionalText(
    {
      label: 'Contact properties',
      placeholder: 'plan, lifetime_value',
      sublabel: 'Visitor properties to set on contacts beside name, phone, company and place. HubSpot must have them.',
      example: 'plan',
    },
    readContactProperties,
  ),
  batchSize: batchSize(batch),
  baseUrl: baseUrl(standardUrl),
};

/**
 * HubSpot, with the token of a private app: custom events by `POST /events/v3/send/batch`
 * (https://developers.hubspot.com/docs/api-reference/legacy/events/send-event-data/guide), contacts of $identify by
 * `POST /crm/v3/objects/contacts/batch/upsert` by e-mail address
 * (https://developers.hubspot.com/docs/api-reference/legacy/crm/objects/contacts/batch/upsert-contacts). A UUID made of
 * the event's id is its `uuid`, which HubSpot takes once.
 */
export const hubspot = defineDestination({
  id: 'Hubspot',
  label: 'HubSpot',
  settings,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const { baseUrl, hubId, contactProperties = [] } = given;
  const headers = { authorization: `Bearer ${given.accessToken}` };
  return {
    batchEventsMax: given.batchSize,
    accepts: (event) => isIdentify(event) || hubId !== undefined || isQualified(sentEvent(event).name),
    groupOf: (event) => (isIdentify(event) ? 'contacts' : 'events'),
    buildRequest(events) {
      const [first] = events;
      if (first !== undefined && isIdentify(first)) {
        const inputs = contactInputs(events, contactProperties).map(({ input }) => input);
        return postJson({ url: `${baseUrl}/crm/v3/objects/contacts/batch/upsert`, headers, body: { inputs }, events });
      }
      const inputs = events.map((event) => hubspotEvent(event, hubId));
      return postJson({ url: `${baseUrl}/events/v3/send/batch`, headers, body: { inputs }, events });
    },
    readAnswer(answer, events) {
      const [first] = events;
      return first !== undefined && isIdentify(first) ? readContactAnswer(answer, events) : undefined;
    },
  };
}

function readHubId(text: string, key: string): string {
  const hubId = text.trim();
  if (!/^\d+$/.test(hubId)) throw new SettingError(key, 'must be a number');
  return hubId;
}

function readContactProperties(text: string, key: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  const given = names.filter((name) => name !== '');
  if (!given.every((name) => /^[a-z][a-z0-9_]*$/.test(name))) {
    throw new SettingError(key, 'must be internal names of properties, separated by commas');
  }
  return given;
}
