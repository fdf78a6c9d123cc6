import { createReply, notFound } from '../http/reply.ts';
import type { GetRoute } from '../http/route.ts';
import { Admitted } from '../ingest/admission.ts';
import type { Admission } from '../ingest/admission.ts';
import type { Intake } from '../ingest/intake.ts';
import { decodeSegment, isSecureRequest } from '../http/request-head.ts';
import { madeToken, readQueryEvent } from './query-event.ts';
import type { SingleEvent } from '../ingest/single-event.ts';
import { answer, identityParameters, otherParameters, pathParameter } from './openapi/parts.ts';
import { visitorCookie, visitorOf } from './visitor-cookie.ts';
import type { PublishedSources } from '../ingest/published-sources.ts';

export type RedirectParts = {
  readonly admission: Admission;
  readonly sources: PublishedSources;
  readonly intake: Intake;
  readonly events: SingleEvent;
  /** Whether the gateway itself speaks TLS. */
  readonly isSecure: boolean;
};

/**
 * `GET /redirect/{code}`: a short link. The code is the id or a key of a RedirectSource; the only target is that
 * source's redirectUrl. The redirect also works while the log stores nothing, for a source over its limits, and for a
 * query that is not a valid event; in these cases the event is not stored, and is counted as lost, limited or invalid.
 */
export function createRedirectRoute({ admission, sources, intake, events, isSecure }: RedirectParts): GetRoute {
  return {
    name: 'redirect',
    method: 'get',
    paths: ['/redirect/:code', '/api/v1/redirect/:code'],
    openapi: { paths: { '/redirect/{code}': { get: description } } },
    accept(exchange, segment, query) {
      const code = decodeSegment(segment);
      const ofId = sources.bySourceId(code);
      const source = ofId ?? sources.byToken(code);
      if (source?.redirectUrl === undefined) return exchange.send(notFound);
      // Link checkers and mail scanners send HEAD requests, which are not events.
      const admitted = admission.admit(exchange, source, exchange.headOnly ? 0 : 1);
      if (!(admitted instanceof Admitted) && admitted.code !== tooManyCode) return exchange.send(admitted);
      const visitorId = visitorOf(exchange.head.cookie, () => intake.newEventId(Date.now()));
      const cookie = visitorCookie(visitorId, isSecureRequest(exchange.head, isSecure));
      const reply = createReply(302, Buffer.alloc(0), {
        headers: [['location', source.redirectUrl], ['cache-control', 'no-store'], cookie],
      });
      if (!(admitted instanceof Admitted) || exchange.headOnly) return exchange.send(reply);
      const { fields, identified } = readQueryEvent(query);
      const identity = identified ? {} : { userId: visitorId };
      const payload = { token: madeToken, event: source.name, ...fields, ...identity };
      const key = ofId === undefined ? code : '';
      events.made(exchange, admitted, payload, key, { stored: reply, lost: reply, refused: reply });
    },
  };
}

/** Status for a source over its limits, or whose account has too many waiting events. */
const tooManyCode = 429;

const description: object = {
  operationId: 'redirect',
  summary: "Follow a short link to the source's redirectUrl",
  description: `Stores an event with the name of the source. Also redirects if the log does not store the event or the source is over its limits. ${otherParameters}`,
  parameters: [pathParameter('code', 'Id or key of a RedirectSource'), ...identityParameters],
  responses: {
    302: { description: "Redirect to the source's redirectUrl" },
    403: answer("The source's whitelistDomains or whitelistIps refuses the request", 'Failure'),
    404: answer('No such link', 'Failure'),
  },
};
