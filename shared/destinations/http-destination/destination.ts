import { createHmac } from 'node:crypto';
import type { JsonObject } from '../../process/json.ts';
import { defineDestination } from '../sdk/destination.ts';
import type { OutboundEvent, OutboundRequest, PreparedDestination } from '../sdk/destination.ts';
import { identifyingHeaders } from '../sdk/http.ts';
import { eventJson } from '../sdk/event.ts';
import { readHeaders } from '../sdk/http.ts';
import { choiceSetting, countSetting, optionalTextSetting, textSetting } from '../sdk/settings.ts';
import { readWebUrl } from '../sdk/http.ts';

const methods = ['POST', 'PUT', 'PATCH', 'GET'] as const;
const batchEventsMax = 1_000;

/**
 * Any HTTP endpoint: the canonical event with its visitor as JSON, one object a request, or an array of them where
 * `batchSize` is above 1. Every method carries that body, GET too. The signature follows the scheme of GitHub
 * webhooks: hexadecimal HMAC-SHA-256 of the body, https://docs.github.com/webhooks (validating deliveries).
 */
export const httpDestination = defineDestination({
  descriptor: {
    id: 'HTTPDestination',
    label: 'HTTP Destination',
    status: 'ga',
    capabilities: { oauth: false, listsAccounts: false, supportsRenamedEvents: true },
    settings: [
      {
        type: 'Text',
        key: 'httpDestinationUrl',
        label: 'URL',
        placeholder: 'https://example.com/events',
        sublabel: 'Where events are sent. Redirects are not followed.',
        required: true,
      },
      {
        type: 'Select',
        key: 'method',
        label: 'Method',
        options: methods.map((method) => ({ label: method, value: method })),
        sublabel: null,
        required: null,
        defaultValue: 'POST',
      },
      {
        type: 'Secret',
        key: 'headers',
        label: 'Headers',
        placeholder: '{"Authorization": "Bearer …"}',
        sublabel: 'A JSON object of strings, sent with every request.',
        required: null,
      },
      {
        type: 'Text',
        key: 'batchSize',
        label: 'Batch size',
        placeholder: '1',
        sublabel: `Events a request, 1 to ${batchEventsMax}. Above 1 the body is an array.`,
        required: null,
      },
      {
        type: 'Secret',
        key: 'signingSecret',
        label: 'Signing secret',
        placeholder: '',
        sublabel: 'When set, X-Signature-256 carries sha256= and the HMAC of the body.',
        required: null,
      },
    ],
  },
  exampleSettings: {
    httpDestinationUrl: 'https://example.com/events',
    method: 'POST',
    headers: '{"Authorization":"Bearer example"}',
    batchSize: '1',
    signingSecret: 'example',
  },
  prepare,
});

function prepare(settings: JsonObject): PreparedDestination {
  const url = readWebUrl('httpDestinationUrl', textSetting(settings, 'httpDestinationUrl'));
  const method = choiceSetting(settings, 'method', methods, 'POST');
  const batchSize = countSetting(settings, 'batchSize', { min: 1, max: batchEventsMax, fallback: 1 });
  const signingSecret = optionalTextSetting(settings, 'signingSecret');
  const fixedHeaders = {
    'content-type': 'application/json',
    'user-agent': 'Sluice/1 (+HTTPDestination)',
    ...readHeaders('headers', settings['headers']),
  };
  return {
    batchEventsMax: batchSize,
    buildRequest(events): OutboundRequest {
      const bodies = events.map(eventJson);
      const body = batchSize === 1 ? (bodies[0] ?? '') : `[${bodies.join(',')}]`;
      return { method, url, headers: headersOf(fixedHeaders, events, body, signingSecret), body };
    },
  };
}

function headersOf(
  fixed: Readonly<Record<string, string>>,
  events: readonly OutboundEvent[],
  body: string,
  secret: string | undefined,
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = { ...fixed, ...identifyingHeaders(events) };
  if (secret !== undefined) {
    headers['x-signature-256'] = `sha256=${createHmac('sha256', secret).update(body, 'utf8').digest('hex')}`;
  }
  return headers;
}
