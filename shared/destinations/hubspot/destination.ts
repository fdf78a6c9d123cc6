import { defineDestination } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, OutboundRequest, PreparedDestination } from '../sdk/destination.ts';
import { isAboutIds, isGroup, isIdentify, sentEvent } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { baseUrl, batchSize, optionalText, SettingError, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { companyInputs, readCompanyAnswer } from './companies.ts';
import { contactInputs, hubspotEvent, isKnownContact, isQualified, readContactAnswer, recordIdIn } from './payload.ts';
import type { CrmInput } from './payload.ts';
import { eraseAtHubspot } from './erase.ts';

const standardUrl = 'https://api.hubapi.com';
/** HubSpot versions its paths by date and supports each version for at least 18 months. */
const apiVersion = '2026-09';
// HubSpot accepts 500 events per request, but only 100 contacts.
const batch = { max: 100, fallback: 100 };

const settings = {
  accessToken: token({
    label: 'Service key',
    placeholder: 'pat-…',
    sublabel:
      'From Settings, Integrations, Service Keys, with the scopes analytics.behavioral_events.send and crm.objects.contacts.write. The token of an existing private app works too.',
    example: 'pat-example',
  }),
  hubId: optionalText(
    {
      label: 'Hub ID',
      placeholder: '12345678',
      sublabel:
        'If set, each event becomes the custom event pe<Hub ID>_<name>, which must be defined in HubSpot. If empty, only events that a mapping gives such a name are sent.',
      example: '12345678',
    },
    readHubId,
  ),
  contactIdProperty: optionalText(
    {
      label: 'Contact ID property',
      placeholder: 'customer_id',
      sublabel:
        'Internal name of a contact property with unique values, for the external ID. If empty, contacts are identified by e-mail address.',
    },
    readPropertyName,
  ),
  contactProperties: optionalText(
    {
      label: 'Contact properties',
      placeholder: 'plan, lifetime_value',
      sublabel:
        'Visitor properties to set on contacts, in addition to name, phone, company and location. They must exist in HubSpot.',
      example: 'plan',
    },
    readContactProperties,
  ),
  companyIdProperty: optionalText(
    {
      label: 'Company ID property',
      placeholder: 'external_company_id',
      sublabel:
        'Internal name of a company property with unique values, for the group ID. The contact is associated with the company. If empty, groups are skipped.',
      example: 'external_company_id',
    },
    readPropertyName,
  ),
  companyProperties: optionalText(
    {
      label: 'Company properties',
      placeholder: 'plan, tier',
      sublabel:
        'Group traits to set on companies, in addition to name, domain, phone, industry and location. They must exist in HubSpot.',
    },
    readContactProperties,
  ),
  batchSize: batchSize(batch),
  baseUrl: baseUrl(standardUrl),
};

/**
 * HubSpot, with a service key (https://developers.hubspot.com/changelog/legacy-private-app-creation-sunset): custom
 * events with `POST /events/2026-09/send/batch`
 * (https://developers.hubspot.com/docs/api-reference/latest/events/send-event-data/batch-send-occurrences), contacts
 * of $identify with `POST /crm/objects/2026-09/contacts/batch/upsert` by e-mail address or a custom id property
 * (https://developers.hubspot.com/docs/api-reference/latest/crm/objects/contacts/batch/upsert-contacts). Each event
 * carries a `uuid` derived from its id, by which HubSpot deduplicates.
 */
export const hubspot = defineDestination({
  id: 'Hubspot',
  label: 'HubSpot',
  settings,
  facts: {
    sends:
      'Custom events defined in HubSpot; $identify sets the contact, $group sets the company and associates the contact with it',
    limits: { events: 500 },
    deduplicatesBy: 'uuid',
    errors: 'contacts row by row, events as a whole',
    sources: [
      'https://developers.hubspot.com/docs/api-reference/latest/events/send-event-data/batch-send-occurrences',
      'https://developers.hubspot.com/docs/api-reference/legacy/events/send-event-data/guide',
      'https://developers.hubspot.com/docs/api-reference/latest/crm/objects/contacts/batch/upsert-contacts',
    ],
    checked: '2026-11-22',
    version: { name: apiVersion, ends: '2028-03-01' },
    notCarried: [
      "page views in HubSpot's analytics: its browser script counts these; here they are custom events",
      'lists and objects of more than 256 characters in a property of an event; texts are cut to that length',
    ],
    skips: {
      group: 'the destination has no company property for group ids',
      alias: 'contacts are identified by e-mail address only',
    },
    namesElsewhere: ['HubSpot Cloud Mode (Actions)', 'HS'],
  },
  loadPlatform: async () => (await import('./platform.ts')).hubspotPlatform,
  prepare,
  erase: eraseAtHubspot,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const {
    baseUrl,
    hubId,
    contactProperties = [],
    contactIdProperty,
    companyIdProperty,
    companyProperties = [],
  } = given;
  const headers = { authorization: `Bearer ${given.accessToken}` };
  const upsert = (type: 'contacts' | 'companies', records: readonly CrmInput[], events: readonly OutboundEvent[]) =>
    postJson({
      url: `${baseUrl}/crm/objects/${apiVersion}/${type}/batch/upsert`,
      headers,
      body: { inputs: records.map(({ input }) => input) },
      events,
    });
  /** The request that associates a contact with a company, both by HubSpot id. */
  const associate = (company: string, contact: string, events: readonly OutboundEvent[]) =>
    postJson({
      url: `${baseUrl}/crm/associations/${apiVersion}/contacts/companies/batch/associate/default`,
      headers,
      body: { inputs: [{ from: { id: contact }, to: { id: company } }] },
      events,
    });
  const contactKey = { idProperty: contactIdProperty, properties: contactProperties };
  return {
    batchEventsMax: given.batchSize,
    accepts: (event) =>
      isIdentify(event) ||
      (isGroup(event) && companyIdProperty !== undefined) ||
      (!isAboutIds(event) && (hubId !== undefined || isQualified(sentEvent(event).name))),
    groupOf(event) {
      if (isIdentify(event)) return 'contacts';
      if (!isGroup(event)) return 'events';
      // The follow-up requests are about one contact, so that contact's event is sent alone.
      return isKnownContact(event, contactIdProperty) ? `company of ${event.resolved.event.id}` : 'companies';
    },
    buildRequest(events) {
      const [first] = events;
      if (first !== undefined && isIdentify(first))
        return upsert('contacts', contactInputs(events, contactKey), events);
      if (first !== undefined && isGroup(first)) {
        const companies = upsert(
          'companies',
          companyInputs(events, companyIdProperty ?? '', companyProperties),
          events,
        );
        if (!isKnownContact(first, contactIdProperty)) return companies;
        const contact = upsert('contacts', contactInputs(events, { ...contactKey, properties: [] }), events);
        return {
          ...companies,
          nextOf(companyAnswer) {
            const company = recordIdIn(companyAnswer);
            if (company === undefined) return undefined;
            const nextOf = (contactAnswer: OutboundAnswer): OutboundRequest | undefined => {
              const id = recordIdIn(contactAnswer);
              return id === undefined ? undefined : associate(company, id, events);
            };
            return { ...contact, nextOf };
          },
        };
      }
      const inputs = events.map((event) => hubspotEvent(event, hubId));
      return postJson({ url: `${baseUrl}/events/${apiVersion}/send/batch`, headers, body: { inputs }, events });
    },
    readAnswer(answer, events) {
      const [first] = events;
      if (first !== undefined && isIdentify(first)) return readContactAnswer(answer, events, contactIdProperty);
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
  if (name === undefined || others.length > 0) throw new SettingError(key, 'must be an internal property name');
  return name;
}

function readContactProperties(text: string, key: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  const given = names.filter((name) => name !== '');
  if (!given.every((name) => /^[a-z][a-z0-9_]*$/.test(name))) {
    throw new SettingError(key, 'must be internal property names, separated by commas');
  }
  return given;
}
