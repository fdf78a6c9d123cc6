import { timedSignature } from '../sdk/signature.ts';
import { campaignContext, defineSourceKind } from '../sdk/source-kind.ts';

/** CallTrackingMetrics: one request each when an activity starts, changes and ends, always with the same id. */
export const callTrackingMetrics = defineSourceKind({
  type: 'CallTrackingMetrics',
  label: 'CallTrackingMetrics',
  setUp: 'Settings, Integrations, Webhooks: Post activity data to the address',
  follows: [
    'https://www.calltrackingmetrics.com/support/integrations-account-management/webhooks-api/webhooks-api-integration/',
    'https://www.calltrackingmetrics.com/developers/',
  ],
  signature: timedSignature({
    header: 'X-CTM-Signature',
    headers: ['x-ctm-signature', 'x-ctm-time'],
    algorithm: 'sha1',
    encoding: 'base64',
    label: '`X-CTM-Signature`: base64 of HMAC-SHA1 over `X-CTM-Time` and the body',
    secretName: 'API secret key of the account',
    read({ header }) {
      const [digest, time] = [header('x-ctm-signature').trim(), header('x-ctm-time').trim()];
      return digest === '' || time === '' ? undefined : { digest, time };
    },
    message: ({ body }, time) => [time, body],
  }),
  table: {
    id: ['id'],
    idCoversContent: true,
    time: ['unix_time'],
    email: ['email'],
    fullName: ['name', 'cnam'],
    traits: {
      phone_number: ['caller_number', 'contact_number', 'caller_number_complete', 'caller_number_bare'],
      city: ['city'],
      state: ['state'],
      zip: ['postal_code'],
      country: ['country'],
    },
    context: {
      ...campaignContext((name) => [name]),
      current_url: ['location'],
      referrer: ['referrer'],
    },
  },
});
