import type { PostDoor } from './door.ts';
import { refuseNonJson } from './refuse-non-json.ts';
import type { SingleEvent } from './single-event.ts';

/** `POST /api/v1/identify`: what is known of a visitor; becomes a `$identify` event. */
export function createIdentifyDoor(events: SingleEvent, bodyBytesMax: number): PostDoor {
  return {
    name: 'identify',
    method: 'post',
    paths: ['/api/v1/identify'],
    bodyBytesMax,
    refuse: refuseNonJson,
    accept: (exchange, body) => events.identify(exchange, body),
  };
}
