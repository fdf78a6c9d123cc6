import { membersAsFields } from '../sdk/form-fields.ts';
import { hubspotSignature } from './hubspot-signature.ts';
import { defineSourceKind } from '../sdk/source-kind.ts';

/**
 * A custom action of a HubSpot workflow: one execution per request, identified by `callbackId`, with the record
 * properties that the action requests and the workflow author's inputs.
 */
export const hubspotActions = defineSourceKind({
  type: 'HubspotAppActions',
  label: 'HubSpot app actions',
  setUp:
    'The action’s definition: `actionUrl`; `objectRequestOptions` names the properties to send, `email` among them',
  notes: 'The proxy in front of the gateway must pass on the `Host` header: the signature covers the address.',
  follows: ['https://developers.hubspot.com/docs/api-reference/automation-actions-v4-v4/custom-action-guide'],
  signature: hubspotSignature,
  table: {
    id: ['callbackId'],
    email: ['object.properties.email', 'inputFields.email'],
    traits: {
      first_name: ['object.properties.firstname', 'inputFields.firstname'],
      last_name: ['object.properties.lastname', 'inputFields.lastname'],
      phone_number: ['object.properties.phone', 'inputFields.phone'],
      company_name: ['object.properties.company', 'inputFields.company'],
      job_title: ['object.properties.jobtitle', 'inputFields.jobtitle'],
      city: ['object.properties.city'],
      state: ['object.properties.state'],
      zip: ['object.properties.zip'],
      country: ['object.properties.country'],
    },
  },
  fields: ({ inputFields }) => membersAsFields(inputFields),
});
