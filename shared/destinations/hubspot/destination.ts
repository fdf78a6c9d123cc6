import type { JsonObject } from '../../process/json.ts';
import { baseUrlSetting, readBaseUrl } from '../sdk/settings.ts';
import { batchSizeSetting, readBatchSize } from '../sdk/settings.ts';
import { defineDestination, SettingError } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { contactInputs, readContactAnswer } from './payload.ts';
import { hubspotEvent, isQualified } from './payload.ts';
import { postJson } from '../sdk/http.ts';
import { isIdentify, sentEvent } from '../sdk/event.ts';
import { optionalTextSetting } from '../sdk/settings.ts';
import { tokenSetting } from '../sdk/settings.ts';

const standardUrl = 'https://api.hubapi.com';
// Contacts travel in hundreds; events could in five hundreds.
const batch = { max: 100, fallback: 100 };

/**
 * HubSpot, with the token of a private app: custom events by `POST /events/v3/send/batch`
 * (https://developers.hubspot.com/docs/api-reference/legacy/events/send-event-data/guide), contacts of $identify by
 * `POST /crm/v3/objects/contacts/batch/upsert` by e-mail address
 * (https://developers.hubspot.com/docs/api-reference/legacy/crm/objects/contacts/batch/upsert-contacts). A UUID made of
 * the event's id is its `uuid`, which HubSpot takes once.
 */
export const hubspot = defineDestination({
  descriptor: {
    id: 'Hubspot',
    label: 'HubSpot',
    status: 'ga',
    capabilities: { oauth: false, listsAccounts: false, supportsRenamedEvents: true },
    settings: [
      {
        type: 'Secret',
        key: 'accessToken',
        label: 'Access token',
        placeholder: 'pat-…',
        sublabel: 'Of a private app with the scopes analytics.behavioral_events.send and crm.objects.contacts.write.',
        required: true,
      },
      {
        type: 'Text',
        key: 'hubId',
        label: 'Hub ID',
        placeholder: '12345678',
        sublabel:
          'With it each event becomes the custom event pe<Hub ID>_<name>, which must be defined in HubSpot; without it only events are sent that a mapping gives such a name.',
        required: null,
      },
      {
        type: 'Text',
        key: 'contactProperties',
        label: 'Contact properties',
        placeholder: 'plan, lifetime_value',
        sublabel:
          'Visitor properties to set on contacts beside name, phone, company and place. HubSpot must have them.',
        required: null,
      },
      batchSizeSetting(batch),
      baseUrlSetting(standardUrl),
    ],
  },
  exampleSettings: { accessToken: 'pat-example', hubId: '12345678', contactProperties: 'plan', batchSize: '100' },
  prepare,
});

function prepare(settings: JsonObject): PreparedDestination {
  const baseUrl = readBaseUrl(settings, standardUrl);
  const headers = { authorization: `Bearer ${tokenSetting(settings, 'accessToken')}` };
  const hubId = readHubId(settings);
  const contactProperties = readContactProperties(settings);
  return {
    batchEventsMax: readBatchSize(settings, batch),
    takes: (event) => isIdentify(event) || hubId !== undefined || isQualified(sentEvent(event).name),
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

function readHubId(settings: JsonObject): string | undefined {
  const hubId = optionalTextSetting(settings, 'hubId')?.trim();
  if (hubId !== undefined && !/^\d+$/.test(hubId)) throw new SettingError('hubId', 'must be a number');
  return hubId;
}

function readContactProperties(settings: JsonObject): readonly string[] {
  const names = (optionalTextSetting(settings, 'contactProperties') ?? '').split(',').map((name) => name.trim());
  const given = names.filter((name) => name !== '');
  if (!given.every((name) => /^[a-z][a-z0-9_]*$/.test(name))) {
    throw new SettingError('contactProperties', 'must be internal names of properties, separated by commas');
  }
  return given;
}
