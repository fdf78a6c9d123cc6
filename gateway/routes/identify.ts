import type { PostRoute } from '../http/route.ts';
import { refuseNonJson } from '../http/exchange.ts';
import type { SingleEvent } from '../ingest/single-event.ts';
import { describePayload } from '../payload/payloads.ts';
import { singleEvent } from './openapi/parts.ts';

/** `POST /api/v1/identify`: properties of a visitor, stored as a `$identify` event. */
export function createIdentifyRoute(events: SingleEvent, bodyBytesMax: number): PostRoute {
  const summary = 'Update a visitor; fires a $identify event';
  return {
    name: 'identify',
    method: 'post',
    paths: ['/api/v1/identify'],
    openapi: {
      paths: { '/api/v1/identify': { post: singleEvent('identify', summary, 'IdentifyPayload', bodyBytesMax) } },
      schemas: { IdentifyPayload: describePayload('identify') },
    },
    bodyBytesMax,
    refuse: refuseNonJson,
    accept: (exchange, body) => events.identify(exchange, body),
  };
}
