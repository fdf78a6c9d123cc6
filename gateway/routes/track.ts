import type { PostRoute } from '../http/route.ts';
import { refuseNonJson } from '../http/exchange.ts';
import type { SingleEvent } from '../ingest/single-event.ts';
import { describePayload } from '../payload/payloads.ts';
import { singleEvent } from './openapi/parts.ts';

/** `POST /api/v1/track`: one event. */
export function createTrackRoute(events: SingleEvent, bodyBytesMax: number): PostRoute {
  return {
    name: 'track',
    method: 'post',
    paths: ['/api/v1/track'],
    openapi: {
      paths: { '/api/v1/track': { post: singleEvent('track', 'Send one event', 'TrackPayload', bodyBytesMax) } },
      schemas: { TrackPayload: describePayload('track') },
    },
    bodyBytesMax,
    refuse: refuseNonJson,
    accept: (exchange, body) => events.track(exchange, body),
  };
}
