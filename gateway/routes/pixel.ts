import { createReply, invalid, unauthorized } from '../http/reply.ts';
import type { GetRoute } from '../http/route.ts';
import type { Intake } from '../ingest/intake.ts';
import { decodeSegment } from '../http/path-segment.ts';
import { madeToken, readQueryEvent } from './query-event.ts';
import type { SingleEvent } from '../ingest/single-event.ts';
import { visitorCookie, visitorOf } from './visitor-cookie.ts';

/** One transparent point: GIF89a, 1 by 1. */
const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const suffix = '.gif';

/** `GET /pixel/{token}.gif?event=…`: an event for where only an image can be placed. */
export function createPixelRoute(events: SingleEvent, intake: Intake): GetRoute {
  return {
    name: 'pixel',
    method: 'get',
    paths: ['/pixel/:token', '/api/v1/pixel/:token'],
    accept(exchange, file, query) {
      if (!file.endsWith(suffix)) return exchange.send(unauthorized);
      const source = intake.admission.authenticate(exchange, decodeSegment(file.slice(0, -suffix.length)));
      if (source === undefined || !intake.admission.admit(exchange, source, 1)) return;
      const { event, fields, identified } = readQueryEvent(query);
      if (event === undefined) return exchange.send(invalid('event is required'));
      const visitorId = visitorOf(exchange.head.cookie, () => intake.newEventId(exchange.admittedAtMs));
      exchange.onStored = pixelReply(visitorId);
      const identity = identified ? {} : { userId: visitorId };
      events.made(exchange, source, { ...fields, ...identity, token: madeToken, event });
    },
  };
}

const pixelReply = (visitorId: string) =>
  createReply(200, gif, {
    headers: [['content-type', 'image/gif'], ['cache-control', 'no-store'], visitorCookie(visitorId)],
  });
