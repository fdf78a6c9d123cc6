import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { topFolder } from '../../shared/runtime/compiled-path.ts';

/** Where the build puts the console. */
const consoleFolder = new URL('dist/console/', topFolder);

/**
 * The pages load nothing from other origins, have no inline script or style, and cannot be shown in a frame. Styles
 * that scripts set on elements do not count as inline styles for this policy (CSP level 3, section 8.3).
 */
export const consolePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const yearMs = 31_536_000 * 1_000;

/**
 * Serves the console at `/`: one HTML page, whose script shows the view for the requested address, and the hashed files
 * that the page loads. Throws if the build has no console.
 */
export async function loadConsole(): Promise<(app: FastifyInstance) => void> {
  const page = await readFile(new URL('index.html', consoleFolder));
  const sendPage = (reply: FastifyReply): FastifyReply =>
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', consolePolicy)
      .header('referrer-policy', 'no-referrer')
      .header('cache-control', 'no-cache')
      .send(page);
  return (app) => {
    void app.register(fastifyStatic, {
      root: fileURLToPath(new URL('assets/', consoleFolder)),
      prefix: '/assets/',
      index: false,
      preCompressed: true,
      decorateReply: false,
      maxAge: yearMs,
      immutable: true,
    });
    // Every address outside the API is a page of the console; for an unknown address, the console shows a message.
    app.get('/*', (request, reply) => {
      const isPage = request.headers.accept?.includes('text/html') === true && !request.url.startsWith('/rest/');
      return isPage ? sendPage(reply) : reply.callNotFound();
    });
  };
}
