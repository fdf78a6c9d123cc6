import { createHash, createHmac } from 'node:crypto';

/** A provider's request that is to be signed. */
export type ToSign = { readonly secret: string; readonly body: string; readonly url: string; readonly nowMs: number };

type Signer = (request: ToSign) => Readonly<Record<string, string>>;

const hmac = (algorithm: string, secret: string, text: string): ReturnType<typeof createHmac> =>
  createHmac(algorithm, secret).update(text);

const hubspot: Signer = ({ secret, body, url, nowMs }) => ({
  'x-hubspot-request-timestamp': String(nowMs),
  'x-hubspot-signature-v3': hmac('sha256', secret, `POST${url}${body}${nowMs}`).digest('base64'),
});

/** Signature headers by source type, implemented a second time from the providers' documentation. */
export const signers: Readonly<Record<string, Signer>> = {
  TypeformWebhooks: ({ secret, body }) => ({
    'typeform-signature': `sha256=${hmac('sha256', secret, body).digest('base64')}`,
  }),
  CalendlyWebhook({ secret, body, nowMs }) {
    const seconds = Math.floor(nowMs / 1000);
    return {
      'calendly-webhook-signature': `t=${seconds},v1=${hmac('sha256', secret, `${seconds}.${body}`).digest('hex')}`,
    };
  },
  CalComWebhooks: ({ secret, body }) => ({ 'x-cal-signature-256': hmac('sha256', secret, body).digest('hex') }),
  CallRail: ({ secret, body }) => ({ signature: hmac('sha1', secret, body).digest('base64') }),
  CallTrackingMetrics({ secret, body, nowMs }) {
    const seconds = String(Math.floor(nowMs / 1000));
    return { 'x-ctm-time': seconds, 'x-ctm-signature': hmac('sha1', secret, seconds + body).digest('base64') };
  },
  HubspotFormWebhook: hubspot,
  HubspotAppActions: hubspot,
  Formstack: ({ secret, body }) => ({ 'x-fs-signature': `sha256=${hmac('sha256', secret, body).digest('hex')}` }),
  FormsortWebhooks: ({ secret, body }) => ({
    'x-formsort-secure': 'sign',
    'x-formsort-signature': hmac('sha256', secret, body).digest('base64url'),
  }),
  FacebookLeadAds: ({ secret, body }) => ({
    'x-hub-signature-256': `sha256=${hmac('sha256', secret, body).digest('hex')}`,
  }),
  Healthie({ secret, body, url }) {
    const [, path = '', query = ''] = /^https:\/\/[^/]+([^?]*)\??(.*)$/.exec(url) ?? [];
    const digest = createHash('sha256').update(body).digest('hex');
    const signed = `post ${path} ${query} ${digest} application/json ${Buffer.byteLength(body)}`;
    return {
      'content-digest': `SHA-256=${digest}`,
      'signature-input': 'sig1=("@method" "@path" "@query" "content-digest" "content-type" "content-length")',
      signature: `sig1=${hmac('sha256', secret, signed).digest('hex')}`,
    };
  },
  SegmentWebPlugin: ({ secret, body }) => ({ 'x-signature': hmac('sha1', secret, body).digest('hex') }),
};

/** HubSpot's version 2 signature, used by custom actions. */
export const signHubspotV2: Signer = ({ secret, body, url }) => ({
  'x-hubspot-signature-version': 'v2',
  'x-hubspot-signature': createHash('sha256').update(`${secret}POST${url}${body}`).digest('hex'),
});

/** HubSpot's version 1 signature, used by older subscriptions. */
export const signHubspotV1: Signer = ({ secret, body }) => ({
  'x-hubspot-signature-version': 'v1',
  'x-hubspot-signature': createHash('sha256').update(`${secret}${body}`).digest('hex'),
});
