import type { PostRoute } from '../http/route.ts';
import { refuseNonJson } from '../http/refuse-non-json.ts';
import type { SingleEvent } from '../ingest/single-event.ts';

/** `POST /api/v1/identify`: what is known of a visitor; becomes a `$identify` event. */
export function createIdentifyRoute(events: SingleEvent, bodyBytesMax: number): PostRoute {
  return {
    name: 'identify',
    method: 'post',
    paths: ['/api/v1/identify'],
    bodyBytesMax,
    refuse: refuseNonJson,
    accept: (exchange, body) => events.identify(exchange, body),
  };
}
