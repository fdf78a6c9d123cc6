import { jsonReply, notFound } from '../../http/reply.ts';
import type { Reply } from '../../http/reply.ts';
import type { GetRoute, Route } from '../../http/route.ts';
import { commonSchemas } from './parts.ts';

const ownPaths = {
  '/api/v1/openapi': {
    get: { operationId: 'openapi', summary: 'This document', responses: { 200: { description: 'This document' } } },
  },
};

/** `GET /api/v1/openapi`, and below it a document for each family of other libraries. Public. */
export function createOpenApiRoutes(routes: readonly Route[]): readonly GetRoute[] {
  const own = reply(describeOwn(routes));
  const documents = new Map([...describeFamilies(routes)].map(([family, document]) => [family, reply(document)]));
  return [
    {
      name: 'openapi',
      method: 'get',
      paths: ['/api/v1/openapi'],
      openapi: { paths: ownPaths },
      accept: (exchange) => exchange.send(own),
    },
    {
      name: 'openapi-compat',
      method: 'get',
      paths: ['/api/v1/openapi/:family'],
      openapi: { paths: {} },
      accept: (exchange, family) => exchange.send(documents.get(family) ?? notFound),
    },
  ];
}

const reply = (document: object): Reply =>
  jsonReply(200, document, { headers: [['cache-control', 'public, max-age=300']], isForAll: true });

/** The OpenAPI 3.1 document of the ingest interface: the routes describe themselves, in their order. */
export function describeOwn(routes: readonly Route[]): object {
  const own = routes.filter(({ document }) => document === undefined);
  return describe(own, ownPaths, {
    title: 'Sluice ingest',
    description:
      'A 200 means that the event is stored in the log and survives the loss of every process; it might not have ' +
      'been dispatched yet. An event sent again by the same source with the same distinctId and the same identifiers is ' +
      'accepted and processed once; events of live and test keys are deduplicated separately. ' +
      'externalId identifies a person, userId a device or a visitor. Two visitors that both have an externalId are ' +
      'merged only by an alias: the event `$alias` with the previous id as externalId and the new id as ' +
      'userProperties.external_id, sent with the key of a server source. Identifiers such as undefined, null, 0 or ' +
      'anonymous are ignored. The key of a web, pixel, redirect or mobile source does not overwrite ' +
      'external_id, email and phone_number that a server source has set. A test key changes no visitor. ' +
      'Clients retry on 408, 409, 429 and 5xx and honour Retry-After.',
  });
}

/** A document for each family of other libraries, with the addresses that they use. */
function describeFamilies(routes: readonly Route[]): ReadonlyMap<string, object> {
  const families = [...new Set(routes.flatMap(({ document }) => document ?? []))];
  return new Map(
    families.map((family) => [
      family,
      describe(
        routes.filter(({ document }) => document === family),
        {},
        {
          title: `Sluice ingest for libraries of ${family}`,
          description:
            'A 200 means that every event is stored in the log. A message sent again with the same id is accepted and ' +
            'processed once. Errors have the usual `error`, the same text as `message`, and a `code`.',
        },
      ),
    ]),
  );
}

function describe(
  routes: readonly Route[],
  morePaths: object,
  info: { readonly title: string; readonly description: string },
): object {
  const parts = routes.map(({ openapi }) => openapi);
  return {
    openapi: '3.1.0',
    info: { version: '1.0.0', ...info },
    paths: Object.assign({}, ...parts.map(({ paths }) => paths), morePaths) as object,
    components: { schemas: Object.assign({}, ...parts.map(({ schemas }) => schemas), commonSchemas) as object },
  };
}
