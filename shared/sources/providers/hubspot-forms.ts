import { isJsonObject } from '../../runtime/json.ts';
import { hubspotSignature } from './hubspot-signature.ts';
import { defineSourceKind } from '../sdk/source-kind.ts';

/** HubSpot's names of well-known properties. */
const hubspotNames: Readonly<Record<string, string>> = {
  first_name: 'firstname',
  last_name: 'lastname',
  phone_number: 'phone',
  company_name: 'company',
  job_title: 'jobtitle',
};

/**
 * HubSpot's webhooks for its records: an app's subscriptions, which arrive as arrays of up to 100 events, and the
 * contact that a workflow posts after a form, with properties as objects or plain values. A retried subscription
 * event has another `attemptNumber` and the same id.
 */
export const hubspotForms = defineSourceKind({
  type: 'HubspotFormWebhook',
  label: 'HubSpot forms and records',
  setUp: 'A workflow that starts with a form, Send a webhook, POST; or the app, Webhooks: Target URL',
  notes:
    'The proxy in front of the gateway must pass on the `Host` header: the signature covers the address. Subscriptions of `contact.propertyChange` for `email` identify the visitor.',
  follows: [
    'https://developers.hubspot.com/docs/api/webhooks',
    'https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation',
  ],
  signature: hubspotSignature,
  table: {
    name: ['subscriptionType'],
    id: ({ eventId, subscriptionId, objectId, occurredAt, ...event }) => {
      if (eventId !== undefined) return [eventId, subscriptionId, objectId, occurredAt].map(partOfId).join(':');
      const submissions = event['form-submissions'];
      const [first]: unknown[] = Array.isArray(submissions) ? submissions : [];
      return isJsonObject(first) && typeof first['conversion-id'] === 'string' ? first['conversion-id'] : undefined;
    },
    time: ['occurredAt', 'form-submissions[0].timestamp'],
    email: ['properties.email.value', 'properties.email', 'email'],
    traits: propertiesOf([
      'first_name',
      'last_name',
      'phone_number',
      'company_name',
      'job_title',
      'city',
      'state',
      'zip',
      'country',
    ]),
    context: { current_url: ['form-submissions[0].page-url'] },
  },
  fields: ({ propertyName, propertyValue }) =>
    propertyName === 'email' ? [{ label: 'email', value: propertyValue }] : [],
});

/** A member of an event id as text; empty for objects and lists, which HubSpot does not send here. */
const partOfId = (part: unknown): string => (isJsonObject(part) || Array.isArray(part) ? '' : String(part));

function propertiesOf(traits: readonly string[]): Record<string, readonly string[]> {
  return Object.fromEntries(
    traits.map((trait) => {
      const name = hubspotNames[trait] ?? trait;
      return [trait, [`properties.${name}.value`, `properties.${name}`, name]];
    }),
  );
}
