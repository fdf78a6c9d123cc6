import type { PostDoor } from './door.ts';
import { refuseNonJson } from './refuse-non-json.ts';
import type { SingleEvent } from './single-event.ts';

/** `POST /api/v1/track`: one event. */
export function createTrackDoor(events: SingleEvent, bodyBytesMax: number): PostDoor {
  return {
    name: 'track',
    method: 'post',
    paths: ['/api/v1/track'],
    bodyBytesMax,
    refuse: refuseNonJson,
    accept: (exchange, body) => events.track(exchange, body),
  };
}
