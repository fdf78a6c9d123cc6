import { BodyScan } from '../json/scan-body.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { Exchange } from '../http/exchange.ts';
import { unsupportedEncoding, unsupportedType } from '../http/reply.ts';
import type { Reply } from '../http/reply.ts';
import { decodeSegment, isJsonType } from '../http/request-head.ts';
import type { PostRoute } from '../http/route.ts';
import { Admitted } from '../ingest/admission.ts';
import type { Admission } from '../ingest/admission.ts';
import { answer, identityParameters, pathParameter, queryParameter, refusals } from './openapi/parts.ts';
import { madeToken, readQueryEvent } from './query-event.ts';
import { readJson } from '../json/read-json.ts';
import type { JsonLimits } from '../json/read-json.ts';
import type { SingleEvent } from '../ingest/single-event.ts';

const formType = 'application/x-www-form-urlencoded';
const parametersMax = 1000;

/**
 * `POST /webhook/{token}`: whatever another service sends. The body, a JSON object or a form, becomes the event's
 * properties; the query may name the event (default: the source's name) and whose it is.
 */
export function createWebhookRoute(
  admission: Admission,
  events: SingleEvent,
  limits: JsonLimits,
  bodyBytesMax: number,
): PostRoute {
  const scan = new BodyScan();
  return {
    name: 'webhook',
    method: 'post',
    paths: ['/webhook/:token', '/api/v1/webhook/:token'],
    openapi: { paths: { '/webhook/{token}': { post: description } } },
    bodyBytesMax,
    refuse: refuseHead,
    accept(exchange, body, segment, query) {
      const admitted = admission.admitToken(exchange, decodeSegment(segment));
      if (!(admitted instanceof Admitted)) return exchange.send(admitted);
      const read = isForm(exchange) ? { value: readForm(body) } : readJson(scan, body, limits);
      if (read.refusal !== undefined) return exchange.send(read.refusal);
      const { event, fields } = readQueryEvent(query);
      const payload = {
        ...fields,
        token: madeToken,
        event: event ?? admitted.source.name,
        eventProperties: read.value,
      };
      events.made(exchange, admitted, payload);
    },
  };
}

function refuseHead(exchange: Exchange): Reply | undefined {
  const { contentType, contentEncoding } = exchange.head;
  if (!isJsonType(contentType) && !isForm(exchange)) return unsupportedType;
  return contentEncoding === '' || contentEncoding.toLowerCase() === 'identity' ? undefined : unsupportedEncoding;
}

const isForm = (exchange: Exchange): boolean =>
  exchange.head.contentType.split(';', 1)[0]?.trim().toLowerCase() === formType;

/** A form's fields; one that comes several times is an array. */
function readForm(body: Buffer): JsonObject {
  const form = new URLSearchParams(body.toString('utf8'));
  const names = [...new Set(form.keys())].slice(0, parametersMax).filter((name) => name !== '__proto__');
  return Object.fromEntries(
    names.map((name) => {
      const values = form.getAll(name);
      return [name, values.length === 1 ? values[0] : values];
    }),
  );
}

const description: object = {
  operationId: 'webhook',
  summary: 'Send one event with any body',
  description:
    'The body, a JSON object or a form, becomes eventProperties. The event is named as the source, or by `event`.',
  parameters: [pathParameter('token', 'Source key'), queryParameter('event'), ...identityParameters],
  requestBody: {
    required: true,
    content: {
      'application/json': { schema: { type: 'object' } },
      'application/x-www-form-urlencoded': { schema: { type: 'object' } },
    },
  },
  responses: { 200: answer('Stored', 'Success'), ...refusals('Failure') },
};
