import { jsonReply } from '../../http/reply.ts';
import type { GetRoute } from '../../http/route.ts';
import { describeIngest } from './openapi-document.ts';
import type { IngestLimits } from './openapi-document.ts';

/** `GET /api/v1/openapi`: the description of the ingest interface, for everyone. */
export function createOpenApiRoute(limits: IngestLimits): GetRoute {
  const reply = jsonReply(200, describeIngest(limits), {
    headers: [
      ['cache-control', 'public, max-age=300'],
      ['access-control-allow-origin', '*'],
    ],
  });
  return {
    name: 'openapi',
    method: 'get',
    paths: ['/api/v1/openapi'],
    accept(exchange) {
      // The answer itself lets every origin read it.
      exchange.shared = false;
      exchange.send(reply);
    },
  };
}
