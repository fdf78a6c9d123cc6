import { defineDestination } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { isAboutIds, isGroup, isIdentify, sentEvent } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { baseUrl, batchSize, optionalText, SettingError, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { companyInputs, readCompanyAnswer } from './companies.ts';
import { contactInputs, hubspotEvent, isQualified, readContactAnswer } from './payload.ts';
import { eraseAtHubspot } from './erase.ts';

const standardUrl = 'https://api.hubapi.com';
/** HubSpot dates its paths, and serves each for a year and a half or more. */
const apiVersion = '2026-09';
// Contacts travel in hundreds; events could in five hundreds.
const batch = { max: 100, fallback: 100 };

const settings = {
  accessToken: token({
    label: 'Service key',
    placeholder: 'pat-…',
    sublabel:
      'From Settings, Integrations, Service Keys, with the scopes analytics.behavioral_events.send and crm.objects.contacts.write. The token of a private app that you have serves as well.',
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
  companyIdProperty: optionalText(
    {
      label: 'Company id property',
      placeholder: 'external_company_id',
      sublabel:
        'Internal name of a company property with unique values, which takes the id of a group. Without one groups are skipped.',
      example: 'external_company_id',
    },
    readPropertyName,
  ),
  companyProperties: optionalText(
    {
      label: 'Company properties',
      placeholder: 'plan, tier',
      sublabel:
        'Traits of groups to set on companies beside name, domain, phone, industry and place. HubSpot must have them.',
    },
    readContactProperties,
  ),
  batchSize: batchSize(batch),
  baseUrl: baseUrl(standardUrl),
};

/**
 * HubSpot, with a service key (https://developers.hubspot.com/changelog/legacy-private-app-creation-sunset): custom events
 * by `POST /events/2026-09/send/batch`
 * (https://developers.hubspot.com/docs/api-reference/latest/events/send-event-data/batch-send-occurrences), contacts of
 * $identify by `POST /crm/objects/2026-09/contacts/batch/upsert` by e-mail address
 * (https://developers.hubspot.com/docs/api-reference/latest/crm/objects/contacts/batch/upsert-contacts). A UUID made of the
 * event's id is its `uuid`, which HubSpot takes once.
 */
export const hubspot = defineDestination({
  id: 'Hubspot',
  label: 'HubSpot',
  settings,
  facts: {
    sends: 'Custom events that are defined in HubSpot; $identify sets the contact, $group the company',
    limits: { events: 500 },
    deduplicatesBy: 'uuid',
    errors: 'contacts row by row, events as a whole',
    sources: [
      'https://developers.hubspot.com/docs/api-reference/latest/events/send-event-data/batch-send-occurrences',
      'https://developers.hubspot.com/docs/api-reference/latest/crm/objects/contacts/batch/upsert-contacts',
    ],
    checked: '2026-11-22',
    version: { name: apiVersion, ends: '2028-03-01' },
    skips: {
      group: 'the destination names no company property for the ids of groups',
      alias: 'contacts are known by their e-mail address alone',
    },
    namesElsewhere: ['HubSpot Cloud Mode (Actions)', 'HS'],
  },
  loadPlatform: async () => (await import('./platform.ts')).hubspotPlatform,
  prepare,
  erase: eraseAtHubspot,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const { baseUrl, hubId, contactProperties = [], companyIdProperty, companyProperties = [] } = given;
  const headers = { authorization: `Bearer ${given.accessToken}` };
  return {
    batchEventsMax: given.batchSize,
    accepts: (event) =>
      isIdentify(event) ||
      (isGroup(event) && companyIdProperty !== undefined) ||
      (!isAboutIds(event) && (hubId !== undefined || isQualified(sentEvent(event).name))),
    groupOf: (event) => (isIdentify(event) ? 'contacts' : isGroup(event) ? 'companies' : 'events'),
    buildRequest(events) {
      const [first] = events;
      if (first !== undefined && isIdentify(first)) {
        const inputs = contactInputs(events, contactProperties).map(({ input }) => input);
        const url = `${baseUrl}/crm/objects/${apiVersion}/contacts/batch/upsert`;
        return postJson({ url, headers, body: { inputs }, events });
      }
      if (first !== undefined && isGroup(first)) {
        const inputs = companyInputs(events, companyIdProperty ?? '', companyProperties).map(({ input }) => input);
        const url = `${baseUrl}/crm/objects/${apiVersion}/companies/batch/upsert`;
        return postJson({ url, headers, body: { inputs }, events });
      }
      const inputs = events.map((event) => hubspotEvent(event, hubId));
      return postJson({ url: `${baseUrl}/events/${apiVersion}/send/batch`, headers, body: { inputs }, events });
    },
    readAnswer(answer, events) {
      const [first] = events;
      if (first !== undefined && isIdentify(first)) return readContactAnswer(answer, events);
      return first !== undefined && isGroup(first) ? readCompanyAnswer(answer, events) : undefined;
    },
  };
}

function readHubId(text: string, key: string): string {
  const hubId = text.trim();
  if (!/^\d+$/.test(hubId)) throw new SettingError(key, 'must be a number');
  return hubId;
}

function readPropertyName(text: string, key: string): string {
  const [name, ...others] = readContactProperties(text, key);
  if (name === undefined || others.length > 0) throw new SettingError(key, 'must be the internal name of a property');
  return name;
}

function readContactProperties(text: string, key: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  const given = names.filter((name) => name !== '');
  if (!given.every((name) => /^[a-z][a-z0-9_]*$/.test(name))) {
    throw new SettingError(key, 'must be internal names of properties, separated by commas');
  }
  return given;
}
