import { createReply, invalid, unauthorized, unavailable } from '../http/reply.ts';
import type { GetRoute } from '../http/route.ts';
import { Admitted } from '../ingest/admission.ts';
import type { Admission } from '../ingest/admission.ts';
import type { Intake } from '../ingest/intake.ts';
import { decodeSegment, isSecureRequest } from '../http/request-head.ts';
import { madeToken, readQueryEvent } from './query-event.ts';
import type { SingleEvent } from '../ingest/single-event.ts';
import { identityParameters, otherParameters, pathParameter, queryParameter, refusals } from './openapi/parts.ts';
import { visitorCookie, visitorOf } from './visitor-cookie.ts';

/** One transparent point: GIF89a, 1 by 1. */
const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const suffix = '.gif';

export type PixelParts = {
  readonly admission: Admission;
  readonly intake: Intake;
  readonly events: SingleEvent;
  /** Whether the gateway itself speaks TLS. */
  readonly isSecure: boolean;
};

/** `GET /pixel/{token}.gif?event=…`: an event sent by loading an image. */
export function createPixelRoute({ admission, intake, events, isSecure }: PixelParts): GetRoute {
  return {
    name: 'pixel',
    method: 'get',
    paths: ['/pixel/:token', '/api/v1/pixel/:token'],
    openapi: { paths: { '/pixel/{token}.gif': { get: description } } },
    accept(exchange, file, query) {
      if (!file.endsWith(suffix)) return exchange.send(unauthorized);
      const token = decodeSegment(file.slice(0, -suffix.length));
      const admitted = admission.admitToken(exchange, token, exchange.headOnly ? 0 : 1);
      if (!(admitted instanceof Admitted)) return exchange.send(admitted);
      const { event, fields, identified } = readQueryEvent(query);
      if (event === undefined) return exchange.send(invalid('event is required'));
      const visitorId = visitorOf(exchange.head.cookie, () => intake.newEventId(admitted.atMs));
      const identity = identified ? {} : { userId: visitorId };
      const answers = { stored: pixelReply(visitorId, isSecureRequest(exchange.head, isSecure)), lost: unavailable };
      if (exchange.headOnly) return exchange.send(answers.stored);
      events.made(exchange, admitted, { token: madeToken, event, ...fields, ...identity }, token, answers);
    },
  };
}

const pixelReply = (visitorId: string, secure: boolean) =>
  createReply(200, gif, {
    headers: [['content-type', 'image/gif'], ['cache-control', 'no-store'], visitorCookie(visitorId, secure)],
  });

const description: object = {
  operationId: 'pixel',
  summary: 'Send one event by loading an image',
  description: `A cookie of this host keeps the visitor's id. ${otherParameters}`,
  parameters: [pathParameter('token', 'Source key'), queryParameter('event', true), ...identityParameters],
  responses: {
    200: { description: 'Stored; a transparent GIF of one pixel', content: { 'image/gif': {} } },
    ...refusals('Failure'),
  },
};
