import type { FastifyInstance } from 'fastify';
import type { Described } from './build-openapi.ts';
import { buildOpenApi } from './build-openapi.ts';

/** Adds the OpenAPI documents, which need no key, and a redirect from their former page to the documentation. */
export function addDescriptionRoutes(app: FastifyInstance, documents: readonly Described[]): void {
  for (const described of documents) {
    const document = JSON.stringify(buildOpenApi(described));
    const path = described.name === undefined ? '/rest/v1/openapi' : `/rest/v1/openapi/${described.name}`;
    app.get(path, (_request, reply) => reply.type('application/json; charset=utf-8').send(document));
  }
  app.get('/rest/v1/reference', (_request, reply) => reply.redirect('/docs/api.html'));
}
