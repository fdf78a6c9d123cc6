import { textOf } from '../sdk/path.ts';
import { defineSourceKind } from '../sdk/source-kind.ts';

/** WhatConverts: one request when a lead is created and one per change. The lead's type becomes the event name. */
export const whatConverts = defineSourceKind({
  type: 'WhatConverts',
  label: 'WhatConverts',
  setUp: 'The profile, Integrations, Webhooks: the address for new leads, and for updates',
  notes: 'WhatConverts signs nothing. An update has the name of its lead followed by `Updated`.',
  follows: [
    'https://www.whatconverts.com/help/docs/automations-and-advanced-systems/webhooks/what-are-webhooks',
    'https://www.whatconverts.com/help/docs/automations-and-advanced-systems/webhooks/receive-transaction-data-with-webhooks',
  ],
  table: {
    name: ({ lead_type: type, trigger }) => {
      const name = textOf(type);
      return name === undefined || trigger === 'new' ? name : `${name} Updated`;
    },
    id: ['lead_id', 'trigger'],
    idCoversContent: true,
    time: ['last_updated', 'date_created'],
    email: ['contact_email_address', 'email_address'],
    fullName: ['contact_name'],
    traits: {
      phone_number: ['contact_phone_number', 'phone_number', 'caller_number'],
      company_name: ['contact_company_name'],
      city: ['city'],
      state: ['state'],
      zip: ['zip'],
      country: ['country'],
    },
    context: {
      current_url: ['lead_url', 'landing_url'],
      utm_source: ['lead_source'],
      utm_medium: ['lead_medium'],
      utm_campaign: ['lead_campaign'],
      utm_content: ['lead_content'],
      utm_term: ['lead_keyword'],
      gclid: ['gclid'],
      msclkid: ['msclkid'],
      fbclid: ['fbclid'],
    },
    ip: ['ip_address'],
  },
});
