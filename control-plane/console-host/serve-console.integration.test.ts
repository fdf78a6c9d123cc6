import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';
import { consolePolicy } from './serve-console.ts';

let plane: TestControlPlane;

beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane.stop());

const open = (path: string, headers: Readonly<Record<string, string>> = { accept: 'text/html' }): Promise<Response> =>
  fetch(`${plane.baseUrl}${path}`, { headers });

test('console: an answer that a proxy forwards over TLS tells browsers to use only TLS', async () => {
  const headersOf = async (headers: Record<string, string>) => (await fetch(plane.baseUrl, { headers })).headers;
  const header = 'strict-transport-security';
  expect((await headersOf({ 'x-forwarded-proto': 'https' })).get(header)).toBe('max-age=31536000');
  expect((await headersOf({})).get(header)).toBeNull();
});

test('console: any address opened in a browser serves the page, with a content policy that allows nothing unsafe', async () => {
  for (const path of ['/', '/destinations/x/settings', '/sign-in']) {
    const answer = await open(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toContain('text/html');
    expect(answer.headers.get('content-security-policy')).toBe(consolePolicy);
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    const page = await answer.text();
    expect(page).toContain('<div id="root">');
    expect(page).not.toMatch(/<script(?![^>]* src=)|<style|https?:\/\//);
  }
  expect(consolePolicy).not.toContain('unsafe');
});

test('console: an unknown address is a 404 in JSON for a program, and below /rest/v1 even for a browser', async () => {
  for (const [path, headers] of [
    ['/rest/v1/nothing', { accept: 'text/html' }],
    ['/nothing', { accept: 'application/json' }],
  ] as const) {
    const answer = await open(path, headers);
    expect([path, answer.status]).toEqual([path, 404]);
    expect(await answer.json()).toEqual({ error: 'address not found' });
  }
});

test('console: asset files are cached for good, sent compressed, and small in total', async () => {
  const page = await (await open('/')).text();
  const files = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '');
  expect(files.length).toBeGreaterThan(1);
  let gzippedBytes = 0;
  for (const path of files) {
    const answer = await open(path, { 'accept-encoding': 'gzip' });
    expect([path, answer.status, answer.headers.get('cache-control')]).toEqual([
      path,
      200,
      'public, max-age=31536000, immutable',
    ]);
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    gzippedBytes += Number(answer.headers.get('content-length'));
  }
  // The download size of the first visit to any page.
  expect(gzippedBytes).toBeLessThan(250 * 1024);
  expect((await open('/assets/nothing.js', { accept: '*/*' })).status).toBe(404);
  expect((await open('/assets/..%2f..%2fpackage.json', { accept: '*/*' })).status).not.toBe(200);
});
