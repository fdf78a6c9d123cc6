import { access } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { topFolder } from '../../shared/runtime/compiled-path.ts';
import { consolePolicy } from './serve-console.ts';

/** Where `npm run docs` puts the documentation. */
const docsFolder = new URL('dist/docs/', topFolder);

/**
 * Serves the documentation at `/docs/`, to everyone. Requests that a reader tries out on the page of the ingest API go
 * to `ingestUrl`. If the documentation was not built, answers 404 with the command that builds it.
 */
export async function loadDocs(ingestUrl: string, folder: URL = docsFolder): Promise<(app: FastifyInstance) => void> {
  const isBuilt = await access(new URL('index.html', folder)).then(
    () => true,
    () => false,
  );
  if (!isBuilt) return addMissing;
  const policy = consolePolicy.replace("connect-src 'self'", `connect-src 'self' ${new URL(ingestUrl).origin}`);
  return (app) =>
    void app.register(async (room) => {
      room.addHook('onRequest', async (_request, reply) => {
        void reply.header('content-security-policy', policy);
        void reply.header('referrer-policy', 'no-referrer');
        void reply.header('cache-control', 'no-cache');
      });
      await room.register(fastifyStatic, {
        root: fileURLToPath(folder),
        prefix: '/docs/',
        preCompressed: true,
        decorateReply: false,
        cacheControl: false,
      });
      // Matches /docs/ too. It redirects, because links of the pages are relative to /docs/.
      room.get('/docs', (_request, reply) => reply.redirect('/docs/index.html'));
      room.get('/docs/instance.json', (_request, reply) => reply.send({ ingestUrl }));
    });
}

/** For a build without documentation: adds the same routes, which answer 404. */
function addMissing(app: FastifyInstance): void {
  const answer = { error: 'this build has no documentation: npm run docs builds it' };
  for (const url of ['/docs', '/docs/*', '/docs/instance.json']) {
    const method = url.endsWith('*') ? ['GET', 'HEAD'] : 'GET';
    app.route({ method, url, handler: (_request, reply) => reply.status(404).send(answer) });
  }
}
