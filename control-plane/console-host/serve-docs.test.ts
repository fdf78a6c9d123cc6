import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fastify } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadDocs } from './serve-docs.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-docs-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function open(path: string) {
  const app = fastify({ routerOptions: { ignoreTrailingSlash: true } });
  (await loadDocs('https://ingest.example.com/in', pathToFileURL(`${folder}/`)))(app);
  return app.inject(path);
}

test('documentation: a build without documentation answers 404 with the command that builds it', async () => {
  for (const path of ['/docs', '/docs/', '/docs/start.html']) {
    const answer = await open(path);
    expect([path, answer.statusCode, answer.json()]).toEqual([
      path,
      404,
      { error: 'this build has no documentation: npm run docs builds it' },
    ]);
  }
});

test('documentation: its pages may connect only to their own server and the gateways', async () => {
  await writeFile(join(folder, 'index.html'), '<title>docs</title>');
  const answer = await open('/docs/index.html');
  expect([answer.statusCode, answer.body]).toEqual([200, '<title>docs</title>']);
  expect(answer.headers['content-security-policy']).toContain("connect-src 'self' https://ingest.example.com;");
  expect((await open('/docs/instance.json')).json()).toEqual({ ingestUrl: 'https://ingest.example.com/in' });
});
