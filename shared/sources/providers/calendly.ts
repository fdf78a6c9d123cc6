import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { compilePath, valueAt, labelOf } from '../sdk/path.ts';
import { timedSignature } from '../sdk/signature.ts';
import { campaignContext, defineSourceKind } from '../sdk/source-kind.ts';

const signatureShape = /(?:^|,)\s*(t|v1)=([^,\s]+)/g;

/**
 * Calendly: `invitee.created`, `invitee.canceled` and any other subscribed event. A booking and its cancellation
 * share their URI, so the event name is part of the id.
 */
export const calendly = defineSourceKind({
  type: 'CalendlyWebhook',
  label: 'Calendly',
  setUp: 'API: `POST https://api.calendly.com/webhook_subscriptions` with `url`, `events` and `signing_key`',
  follows: [
    'https://developer.calendly.com/api-docs/overview/webhooks/webhook-signatures',
    'https://developer.calendly.com/api-docs/overview/examples/webhooks',
  ],
  signature: timedSignature({
    header: 'Calendly-Webhook-Signature',
    headers: ['calendly-webhook-signature'],
    algorithm: 'sha256',
    encoding: 'hex',
    label: '`Calendly-Webhook-Signature`: t=seconds,v1=hex of HMAC-SHA256 over `t.body`',
    secretName: 'Signing key',
    read({ header }) {
      const parts = new Map<string, string>();
      for (const [, name = '', value = ''] of header('calendly-webhook-signature').matchAll(signatureShape)) {
        parts.set(name, value);
      }
      const [time, digest] = [parts.get('t'), parts.get('v1')];
      return time === undefined || digest === undefined ? undefined : { time, digest };
    },
    message: ({ body }, time) => [`${time}.`, body],
  }),
  table: {
    name: ['event'],
    id: ['payload.uri', 'event'],
    time: ['created_at'],
    email: ['payload.email'],
    fullName: ['payload.name'],
    traits: {
      first_name: ['payload.first_name'],
      last_name: ['payload.last_name'],
      phone_number: ['payload.text_reminder_number'],
    },
    context: campaignContext((name) => [`payload.tracking.${name}`]),
  },
  fields(event) {
    const answers = valueAt(event, answersPath);
    if (!Array.isArray(answers)) return [];
    return answers
      .filter((answer): answer is JsonObject => isJsonObject(answer))
      .map(({ question, answer }) => ({ label: labelOf(question), value: answer }));
  },
});

const answersPath = compilePath('payload.questions_and_answers');
