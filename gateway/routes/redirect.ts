import { createReply, notFound } from '../http/reply.ts';
import type { GetRoute } from '../http/route.ts';
import type { Intake } from '../ingest/intake.ts';
import { decodeSegment } from '../http/path-segment.ts';
import { madeToken, readQueryEvent } from './query-event.ts';
import type { SingleEvent } from '../ingest/single-event.ts';
import { visitorCookie, visitorOf } from './visitor-cookie.ts';
import type { PublishedSources } from '../ingest/published-sources.ts';

/**
 * `GET /redirect/{code}`: a short link. The code is the id or a key of a RedirectSource, and the way leads to that
 * source's own redirectUrl only. Who follows a link gets there even while the log takes nothing: the event is then
 * lost, and counted as such.
 */
export function createRedirectRoute(events: SingleEvent, intake: Intake, sources: PublishedSources): GetRoute {
  return {
    name: 'redirect',
    method: 'get',
    paths: ['/redirect/:code', '/api/v1/redirect/:code'],
    accept(exchange, segment, query) {
      const code = decodeSegment(segment);
      const source = sources.bySourceId(code) ?? sources.byToken(code);
      if (source?.redirectUrl === undefined) return exchange.send(notFound);
      if (!intake.admission.admit(exchange, source, 1)) return;
      const { fields, identified } = readQueryEvent(query);
      const visitorId = visitorOf(exchange.head.cookie, () => intake.newEventId(exchange.admittedAtMs));
      const reply = createReply(302, Buffer.alloc(0), {
        headers: [['location', source.redirectUrl], ['cache-control', 'no-store'], visitorCookie(visitorId)],
      });
      exchange.onStored = reply;
      exchange.onLost = reply;
      const identity = identified ? {} : { userId: visitorId };
      events.made(exchange, source, { ...fields, ...identity, token: madeToken, event: source.name });
    },
  };
}
