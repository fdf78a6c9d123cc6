import { membersAsFields } from '../sdk/form-fields.ts';
import { bodySignature } from '../sdk/signature.ts';
import { campaignContext, defineSourceKind } from '../sdk/source-kind.ts';

/**
 * CallRail: calls, text messages and forms. The body does not name its webhook, so the fields determine the event name;
 * the states of a call before its end look alike. All states of a call share its id. CallRail does not retry, and
 * disables webhooks that fail.
 */
export const callRail = defineSourceKind({
  type: 'CallRail',
  label: 'CallRail',
  setUp: 'Settings, Integrations, Webhooks: the address for each webhook; the signing token is on the same page',
  notes:
    'Events are `call`, `call_modified`, `text_message_received`, `text_message_sent` and `form_submission`. To choose other names, end the addresses in `?event=pre_call`, `?event=post_call` ….',
  follows: [
    'https://apidocs.callrail.com/#webhooks',
    'https://support.callrail.com/hc/en-us/articles/5711246459149-Webhooks',
  ],
  signature: bodySignature({
    header: 'Signature',
    algorithm: 'sha1',
    encoding: 'base64',
    secretName: 'Signing token of the company',
  }),
  table: {
    name: (event) => {
      if (event['form_data'] !== undefined) return 'form_submission';
      if (event['message_type'] !== undefined) {
        return event['agent'] === undefined ? 'text_message_received' : 'text_message_sent';
      }
      return event['changes'] === undefined ? 'call' : 'call_modified';
    },
    id: ['resource_id'],
    idCoversContent: true,
    time: ['timestamp', 'submitted_at', 'start_time', 'created_at'],
    email: ['customer_email'],
    fullName: ['customer_name'],
    traits: {
      phone_number: ['customer_phone_number', 'customer_number'],
      city: ['customer_city'],
      state: ['customer_state'],
      country: ['customer_country'],
    },
    context: {
      ...campaignContext((name) => [name]),
      current_url: ['form_url', 'last_requested_url', 'landing_page_url'],
      referrer: ['referring_url', 'referrer'],
    },
  },
  fields: ({ form_data: answers, agent, source_number: from, destination_number: to }) => [
    ...membersAsFields(answers),
    // In a message sent by an agent, the other party is the customer.
    { label: 'phone', value: agent === undefined ? from : to },
  ],
});
