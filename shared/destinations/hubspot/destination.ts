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
  contactIdProperty: optionalText(
    {
      label: 'Contact id property',
      placeholder: 'customer_id',
      sublabel:
        'Internal name of a contact property with unique values, which takes the external id. Without one contacts are known by their e-mail address.',
    },
    readPropertyName,
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
        'Internal name of a company property with unique values, which takes the id of a group, and to whose company its contact is associated. Without one groups are skipped.',
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
 * $identify by `POST /crm/objects/2026-09/contacts/batch/upsert` by e-mail address or an id of the account's own
 * (https://developers.hubspot.com/docs/api-reference/latest/crm/objects/contacts/batch/upsert-contacts). A UUID made of the
 * event's id is its `uuid`, which HubSpot takes once.
 */
export const hubspot = defineDestination({
  id: 'Hubspot',
  label: 'HubSpot',
  settings,
  facts: {
    sends:
      'Custom events that are defined in HubSpot; $identify sets the contact, $group the company, and associates the contact with it',
    limits: { events: 500 },
    deduplicatesBy: 'uuid',
    errors: 'contacts row by row, events as a whole',
    sources: [
      'https://developers.hubspot.com/docs/api-reference/latest/events/send-event-data/batch-send-occurrences',
      'https://developers.hubspot.com/docs/api-reference/latest/crm/objects/contacts/batch/upsert-contacts',
    ],
    checked: '2026-11-22',
    version: { name: apiVersion, ends: '2028-03-01' },
    notCarried: ["page views as HubSpot's own: its script in the browser counts these; here they are custom events"],
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
  /** Ties the contact to its company, by the ids that HubSpot gives both. */
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
      // What follows is of one contact.
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
