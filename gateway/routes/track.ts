import type { PostRoute } from '../http/route.ts';
import { refuseNonJson } from '../http/refuse-non-json.ts';
import type { SingleEvent } from '../ingest/single-event.ts';

/** `POST /api/v1/track`: one event. */
export function createTrackRoute(events: SingleEvent, bodyBytesMax: number): PostRoute {
  return {
    name: 'track',
    method: 'post',
    paths: ['/api/v1/track'],
    bodyBytesMax,
    refuse: refuseNonJson,
    accept: (exchange, body) => events.track(exchange, body),
  };
}
