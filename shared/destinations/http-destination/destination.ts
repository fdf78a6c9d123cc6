import { createHmac } from 'node:crypto';
import type { OutboundAnswer } from '../../egress/outbound.ts';
import type { Outcome } from '../../egress/outcome.ts';
import { defineDestination } from '../sdk/destination.ts';
import type { OutboundEvent, OutboundRequest, PreparedDestination } from '../sdk/destination.ts';
import { eventJson, eventsJsonBytes } from '../sdk/event.ts';
import { identifyingHeaders } from '../sdk/http.ts';
import { jsonArrayOf } from '../sdk/json.ts';
import {
  address,
  batchSize,
  choice,
  headerSetting,
  optionalSecret,
  readWebUrl,
  requiredText,
} from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { eraseAtEndpoint, httpErasureSettings } from './erase.ts';

const methods = ['POST', 'PUT', 'PATCH', 'GET'] as const;
const batchEventsMax = 1_000;

const settings = {
  httpDestinationUrl: address(
    requiredText(
      {
        label: 'URL',
        placeholder: 'https://example.com/events',
        sublabel: 'The URL to send events to. Redirects are not followed.',
        example: 'https://example.com/events',
      },
      readWebUrl,
    ),
  ),
  method: choice({ label: 'Method', options: methods, fallback: 'POST', example: 'POST' }),
  headers: headerSetting({
    label: 'Headers',
    placeholder: '{"Authorization": "Bearer …"}',
    sublabel: 'A JSON object of strings, sent with every request.',
    example: '{"Authorization":"Bearer example"}',
  }),
  batchSize: batchSize({
    max: batchEventsMax,
    fallback: 1,
    sublabel: `Events in a request, 1 to ${batchEventsMax}. Above 1 the body is an array.`,
  }),
  signingSecret: optionalSecret({
    label: 'Signing secret',
    sublabel: 'If set, X-Signature-256 contains sha256= and the HMAC of the body.',
    example: 'example',
  }),
  ...httpErasureSettings,
};

/**
 * Any HTTP endpoint: the canonical event with its visitor as JSON, one object per request, or an array if
 * `batchSize` is above 1. Every method sends this body, including GET. The signature follows GitHub webhooks:
 * hexadecimal HMAC-SHA-256 of the body, https://docs.github.com/webhooks (validating deliveries).
 */
export const httpDestination = defineDestination({
  id: 'HTTPDestination',
  label: 'HTTP Destination',
  settings,
  facts: {
    sends: 'Every event with its visitor, as JSON',
    limits: { events: 1_000 },
    deduplicatesBy: 'idempotency-key',
    errors: 'status of the whole request; 404 and 409 are retried',
    sources: ['https://www.rfc-editor.org/rfc/rfc9110'],
    checked: '2026-11-22',
    version: 'unversioned',
    namesElsewhere: ['Webhooks (Actions)', 'Webhook', 'Extensible Webhook', 'HTTP', 'HTTP API'],
  },
  loadPlatform: async () => (await import('./platform.ts')).httpEndpoint,
  prepare,
  erase: eraseAtEndpoint,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const { httpDestinationUrl: url, method, signingSecret } = given;
  const fixedHeaders = {
    'content-type': 'application/json',
    'user-agent': 'Sluice/1 (+HTTPDestination)',
    ...given.headers,
  };
  return {
    batchEventsMax: given.batchSize,
    readAnswer,
    buildRequest(events): OutboundRequest {
      const request = (body: string | Buffer): OutboundRequest => ({
        method,
        url,
        headers: headersOf(fixedHeaders, events, body, signingSecret),
        ...(typeof body === 'string' ? { body } : { body: undefined, bodyBytes: body }),
      });
      const [first] = events;
      if (given.batchSize === 1) return request(first === undefined ? '' : eventJson(first));
      return request(eventsJsonBytes(events) ?? jsonArrayOf(events.map(eventJson)));
    },
  };
}

function headersOf(
  fixed: Readonly<Record<string, string>>,
  events: readonly OutboundEvent[],
  body: string | Buffer,
  secret: string | undefined,
): Readonly<Record<string, string>> {
  // Object.assign, because spreading two objects into one takes V8 in Node 20 twenty times as long.
  const headers: Record<string, string> = Object.assign({}, fixed, identifyingHeaders(events));
  if (secret !== undefined) {
    headers['x-signature-256'] = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  }
  return headers;
}

/**
 * Every event goes to the same address, so a 404 means a deployment or a missing route, and a 409 means that the
 * receiver is still processing the event. Both are temporary, and therefore retried. Returns undefined if the status
 * alone decides.
 */
function readAnswer({ status }: OutboundAnswer, events: readonly unknown[]): readonly Outcome[] | undefined {
  if (status !== 404 && status !== 409) return undefined;
  return events.map(() => ({ kind: 'retry', reason: `status ${status}` }));
}
