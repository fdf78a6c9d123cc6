import { jsonReply } from '../../http/reply.ts';
import type { GetRoute, Route } from '../../http/route.ts';
import { commonSchemas } from './parts.ts';

const ownPaths = {
  '/api/v1/openapi': {
    get: { operationId: 'openapi', summary: 'This document', responses: { 200: { description: 'This document' } } },
  },
};

/** `GET /api/v1/openapi`: the description of these routes and itself, for everyone. */
export function createOpenApiRoute(routes: readonly Route[]): GetRoute {
  const reply = jsonReply(200, describeRoutes(routes), {
    headers: [
      ['cache-control', 'public, max-age=300'],
      ['access-control-allow-origin', '*'],
    ],
  });
  return {
    name: 'openapi',
    method: 'get',
    paths: ['/api/v1/openapi'],
    openapi: { paths: ownPaths },
    accept(exchange) {
      // The answer itself lets every origin read it.
      exchange.keepFromPages();
      exchange.send(reply);
    },
  };
}

/** The OpenAPI 3.1 document of the ingest interface: what the routes say of themselves, in their order. */
function describeRoutes(routes: readonly Route[]): object {
  const parts = routes.map(({ openapi }) => openapi);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice ingest',
      version: '1.0.0',
      description:
        'A 200 means that the event is stored in the log and survives the loss of every process; it may not have been ' +
        'dispatched yet. An event sent again with the same distinctId is accepted and processed once. ' +
        'Clients retry on 408, 409, 429 and 5xx and honour Retry-After.',
    },
    paths: Object.assign({}, ...parts.map(({ paths }) => paths), ownPaths) as object,
    components: { schemas: Object.assign({}, ...parts.map(({ schemas }) => schemas), commonSchemas) as object },
  };
}
