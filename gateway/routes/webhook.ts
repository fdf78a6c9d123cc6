import type { Exchange } from '../http/exchange.ts';
import { LateCode } from '../http/late-code.ts';
import { unauthorized, unsupportedEncoding, unsupportedType } from '../http/reply.ts';
import type { Reply } from '../http/reply.ts';
import { decodeSegment, isGzipCoding, isIdentityCoding, isJsonType } from '../http/request-head.ts';
import type { GetRoute, PostRoute } from '../http/route.ts';
import { formType, mediaTypeOf, multipartType } from '../webhook/media-types.ts';
import { answer, identityParameters, pathParameter, queryParameter, refusals } from './openapi/parts.ts';
import type { WebhookParts } from './receive-webhooks.ts';

const paths = ['/webhook/:token', '/api/v1/webhook/:token'];

/**
 * The two routes of webhooks. The code that reads their requests is loaded with the first request.
 *
 * `POST /webhook/{token}`: a webhook of another service. If the source's type names a service, the name, id, time and
 * visitor of each event are read from the body in the format of that service. For every other source the body, a JSON
 * object or a form, becomes the event's properties. The query may give the event's name (default: the source's name)
 * and its visitor, and wins over the body.
 *
 * `GET /webhook/{token}`: some providers verify an address before they use it. Their verify token must be the source
 * key, so the request reveals nothing that the address does not.
 */
export function createWebhookRoutes(parts: WebhookParts): readonly [PostRoute, GetRoute] {
  const { admission, bodyBytesMax } = parts;
  const receiver = new LateCode(async () => {
    const { Webhooks, answerChallenge } = await import('./receive-webhooks.ts');
    return { webhooks: new Webhooks(parts), answerChallenge };
  });
  const post: PostRoute = {
    name: 'webhook',
    method: 'post',
    paths,
    openapi: { paths: { '/webhook/{token}': { post: description, get: challengeDescription } } },
    bodyBytesMax,
    readsHeaders: true,
    refuse: refuseHead,
    accept(exchange, body, segment, query) {
      const token = decodeSegment(segment);
      // Checked before any work on the body.
      if (admission.sourceOf(token) === undefined) return exchange.send(unauthorized);
      // Copied unless the receiver is loaded and reads it at once: the engine reuses the body's bytes after this call.
      const kept = receiver.isLoaded ? body : Buffer.from(body);
      receiver.use(exchange, ({ webhooks }) => webhooks.accept(exchange, kept, { token, query }));
    },
  };
  const challenge: GetRoute = {
    name: 'webhook_challenge',
    method: 'get',
    paths,
    openapi: { paths: {} },
    accept(exchange, segment, query) {
      const token = decodeSegment(segment);
      const source = admission.sourceOf(token);
      if (source === undefined) return exchange.send(unauthorized);
      receiver.use(exchange, ({ answerChallenge }) => exchange.send(answerChallenge(source, token, query)));
    },
  };
  return [post, challenge];
}

function refuseHead(exchange: Exchange): Reply | undefined {
  const { contentType, contentEncoding } = exchange.head;
  const mediaType = mediaTypeOf(exchange);
  if (!isJsonType(contentType) && mediaType !== formType && mediaType !== multipartType) return unsupportedType;
  return isIdentityCoding(contentEncoding) || isGzipCoding(contentEncoding) ? undefined : unsupportedEncoding;
}

const formContent = { schema: { type: 'object' } };

const description: object = {
  operationId: 'webhook',
  summary: 'Receive the webhook of another service',
  description: [
    'If the type of the source names a service, the name, id, time and visitor of each event are read from the body in the format of',
    'that service, and the whole body stays in eventProperties (of Segment messages: the properties). If the source has a',
    'signingSecret, the request must be signed. For every other source the body, a JSON object or a form, becomes eventProperties, and the event gets the name of the',
    'source; each member of an array is an event. `event` and the identifiers in the query win over the body. The body may be',
    'compressed with gzip. Faults that a service cannot correct are accepted: bytes that are not UTF-8 are read in the charset of the',
    'content type, or replaced; times outside the window are kept as original_time in the context; texts that are too long stay',
    'in eventProperties only. A request that is repeated after a 503 stores an event without an id again if it was stored already.',
  ].join(' '),
  parameters: [pathParameter('token', 'Source key'), queryParameter('event'), ...identityParameters],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: { anyOf: [{ type: 'object' }, { type: 'array', items: { type: 'object' } }] },
      },
      'application/x-www-form-urlencoded': formContent,
      'multipart/form-data': formContent,
    },
  },
  responses: {
    200: answer('Every event is stored', 'Success'),
    ...refusals('Failure'),
    401: answer('Missing or unknown source key, or a signature that is missing, wrong, too old or too new', 'Failure'),
  },
};

const challengeDescription: object = {
  operationId: 'webhookChallenge',
  summary: 'Answer a service that verifies the address before it uses it',
  description: 'Facebook Lead Ads only: the verify token must be the source key.',
  parameters: [
    pathParameter('token', 'Source key'),
    queryParameter('hub.mode'),
    queryParameter('hub.verify_token', true),
    queryParameter('hub.challenge', true),
  ],
  responses: {
    200: { description: 'The challenge', content: { 'text/plain': { schema: { type: 'string' } } } },
    400: answer('No challenge', 'Failure'),
    401: answer('Missing or unknown source key', 'Failure'),
    403: answer('The verify token is not the source key', 'Failure'),
    405: answer('The type of the source has no verification', 'Failure'),
  },
};
