import { textOf } from '../sdk/path.ts';
import { membersAsFields } from '../sdk/form-fields.ts';
import { bodySignature } from '../sdk/signature.ts';
import { campaignContext, defineSourceKind } from '../sdk/source-kind.ts';

/** Formsort: the answers so far, at the top level or under `answers`, at each step or at the end. */
export const formsort = defineSourceKind({
  type: 'FormsortWebhooks',
  label: 'Formsort',
  setUp: 'The flow, Integrations, Webhook: the address; Security: sign',
  notes:
    'Events are `FlowFinalized` at the end and `FlowLoaded` before. Give the responder’s uuid the alias `responder_uuid` in the webhook.',
  follows: [
    'https://docs.formsort.com/handling-data/integration-reference/webhooks',
    'https://docs.formsort.com/integrations/getting-data-out/signed-requests',
  ],
  signature: bodySignature({
    header: 'X-Formsort-Signature',
    algorithm: 'sha256',
    encoding: 'base64url',
    secretName: 'Signing key',
  }),
  table: {
    name: ({ finalized }) => (finalized === true ? 'FlowFinalized' : 'FlowLoaded'),
    // Each state of a flow is a request of its own. Without a responder id, only the content distinguishes responders.
    id: (event) => textOf(event['responder_uuid']) ?? textOf(event['variant_uuid']),
    idCoversContent: true,
    time: ['created_at'],
    context: campaignContext((name) => [name, `answers.${name}`]),
  },
  fields: (event) => [...membersAsFields(event['answers']), ...membersAsFields(event)],
});
