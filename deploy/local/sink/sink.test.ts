import type { Server } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listen } from '../../../shared/runtime/status/serve-status.ts';
import { createRecorder } from './recorder.ts';
import { createSink } from './server.ts';

let server: Server;
let base: string;

beforeEach(async () => {
  server = createSink({ requestsMax: 3, bytesMax: 1_000, bodyBytesMax: 500 });
  base = `http://127.0.0.1:${await listen(server, 0, '127.0.0.1', 'SINK_PORT')}`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const post = (path: string, body: string): Promise<Response> => fetch(`${base}${path}`, { method: 'POST', body });
const put = (behaviour: unknown): Promise<Response> =>
  fetch(`${base}/behaviour`, { method: 'PUT', body: JSON.stringify(behaviour) });
type Listed = {
  events: { method: string; path: string; body: unknown; headers: Record<string, string>; time: string }[];
};
const events = async (query = ''): Promise<Listed['events']> => {
  const answer = await fetch(`${base}/events${query}`);
  return ((await answer.json()) as Listed).events;
};

test('sink: keeps the newest requests, newest first, with bodies parsed', async () => {
  for (const n of [1, 2, 3, 4]) await post('/demo', JSON.stringify({ n }));
  const kept = await events('?limit=10');
  expect(kept.map((event) => event.body)).toEqual([{ n: 4 }, { n: 3 }, { n: 2 }]);
  expect(kept[0]).toMatchObject({ method: 'POST', path: '/demo' });
  expect(await events('?limit=1')).toHaveLength(1);
});

test('sink: a list holds the newest requests whose bodies fit, and the newest one even if it does not fit', () => {
  const recorder = createRecorder(100, 10_000);
  const request = { time: '', method: 'POST', path: '/', headers: {}, body: null, status: 200 };
  for (const [index, bytes] of [900, 40, 30, 20].entries()) recorder.add({ ...request, path: `/${index}` }, bytes);
  const listed = (limit: number, bytesMax: number) => recorder.newest(limit, bytesMax).map(({ path }) => path);
  expect(listed(10, 90)).toEqual(['/3', '/2', '/1']);
  expect(listed(10, 89)).toEqual(['/3', '/2']);
  expect(listed(1, 89)).toEqual(['/3']);
  expect(listed(10, 1)).toEqual(['/3']);
  expect(listed(10, 990)).toHaveLength(4);
});

test('sink: drops the oldest requests when their bodies are too many bytes', async () => {
  for (const letter of ['a', 'b', 'c']) await post('/demo', letter.repeat(450));
  expect((await events()).map((event) => String(event.body)[0])).toEqual(['c', 'b']);
});

test('sink: counts requests, and forgets them on DELETE', async () => {
  await post('/a', '1');
  await post('/b', '2');
  const stats = await (await fetch(`${base}/stats`)).json();
  expect(stats).toMatchObject({ requests: 2, kept: 2, byStatus: { 200: 2 }, byPath: { '/a': 1, '/b': 1 } });
  await fetch(`${base}/events`, { method: 'DELETE' });
  expect(await (await fetch(`${base}/stats`)).json()).toMatchObject({ requests: 0, kept: 0 });
});

test('sink: fails the first requests of a path prefix, then answers 200', async () => {
  await put({ path: '/flaky', failFirst: 2, retryAfterS: 7 });
  const answers = [await post('/flaky/x', '1'), await post('/flaky', '2'), await post('/flaky', '3')];
  expect(answers.map((answer) => answer.status)).toEqual([503, 503, 200]);
  expect(answers[0]?.headers.get('retry-after')).toBe('7');
  expect((await post('/other', '1')).status).toBe(200);
});

test('sink: the longest prefix decides, and DELETE brings 200 back', async () => {
  await put({ status: 500 });
  await put({ path: '/demo', status: 429 });
  expect((await post('/demo', '1')).status).toBe(429);
  expect((await post('/x', '1')).status).toBe(500);
  await fetch(`${base}/behaviour`, { method: 'DELETE' });
  expect((await post('/demo', '1')).status).toBe(200);
});

test('sink: hangs on request, and still records the request', async () => {
  await put({ path: '/hang', hang: true });
  await expect(fetch(`${base}/hang`, { method: 'POST', body: '1', signal: AbortSignal.timeout(300) })).rejects.toThrow(
    /timeout|aborted/i,
  );
  expect((await events())[0]).toMatchObject({ path: '/hang', status: null });
});

test.each([
  [{ status: 99 }, 'status'],
  [{ delayMs: 'soon' }, 'delayMs'],
  [{ path: 'demo' }, 'path'],
])('sink: refuses the behaviour %j and names the field', async (behaviour, field) => {
  const answer = await put(behaviour);
  expect(answer.status).toBe(400);
  expect(JSON.stringify(await answer.json())).toContain(field);
});

test('sink: refuses a body over its limit', async () => {
  expect((await post('/demo', 'x'.repeat(501))).status).toBe(413);
  expect(await events()).toEqual([]);
});
