import type { FastifyInstance } from 'fastify';
import type { Endpoint } from './define-endpoint.ts';
import { buildOpenApi } from './build-openapi.ts';
import type { PublicOperations } from './build-openapi.ts';
import { referencePage } from './reference-page.ts';

/** Adds what needs no key: the OpenAPI document, and a page to read it and try it in a browser. */
export function addDescriptionRoutes(
  app: FastifyInstance,
  endpoints: readonly Endpoint[],
  publicOperations: PublicOperations,
): void {
  const document = JSON.stringify(buildOpenApi(endpoints, publicOperations));
  app.get('/rest/v1/openapi', (_request, reply) => reply.type('application/json; charset=utf-8').send(document));
  app.get('/rest/v1/reference', (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', referencePage.contentSecurityPolicy)
      .header('referrer-policy', 'no-referrer')
      .send(referencePage.html),
  );
}
