import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { endpoints } from '../endpoints.ts';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { AnotherControlPlane, TestControlPlane } from '../testing/test-control-plane.ts';
import { comparesNothing } from './define-endpoint.ts';

let plane: TestControlPlane;
/** Another control plane on the same database, which checks the keys of its streams every second. */
let other: AnotherControlPlane;
let client: Client;

beforeAll(async () => {
  // The keys are checked only once an hour, so a stream ends only because of what this process does.
  plane = await startTestControlPlane({ EVENT_STREAM_KEEP_ALIVE_MS: 3_600_000 });
  other = await plane.startAnother({ EVENT_STREAM_KEEP_ALIVE_MS: 1_000 });
  client = await plane.newAccount();
});
afterAll(() => plane.stop());

/** The query that a streaming endpoint requires. */
const queries: Readonly<Record<string, string>> = { '/rest/v1/events/search': '?eventId=e' };
/** Paths of all endpoints that stream, with the required query. */
const streaming = endpoints.filter(({ streams }) => streams).map(({ path }) => `${path}${queries[path] ?? ''}`);
const everyScope = [...new Set(endpoints.filter(({ streams }) => streams).map((one) => one.scope ?? 'all'))];

type Stream = { readonly ended: Promise<void>; isOpen(): boolean };
type Headers = Readonly<Record<string, string>>;

/** Opens a live stream, and reads it until it ends. Resolves when its first bytes have arrived. */
async function follow(baseUrl: string, path: string, headers: Headers): Promise<Stream> {
  const abort = new AbortController();
  onTestFinished(() => abort.abort());
  const answer = await fetch(`${baseUrl}${path}`, { headers, signal: abort.signal });
  expect(answer.status).toBe(200);
  const reader = (answer.body ?? new ReadableStream<Uint8Array>()).getReader();
  await reader.read();
  let isOpen = true;
  const readAll = async (): Promise<void> => {
    for (let next = await reader.read(); !next.done;) next = await reader.read();
  };
  // A stream that ends with its credentials is cut off, which rejects the read.
  const ended = readAll()
    .catch(() => undefined)
    .then(() => void (isOpen = false));
  return { ended, isOpen: () => isOpen };
}

const bearer = ({ key }: Client): Headers => ({ authorization: `Bearer ${key}` });
const followAll = (baseUrl: string, headers: Headers): Promise<Stream[]> =>
  Promise.all(streaming.map((path) => follow(baseUrl, path, headers)));
const allEnded = (streams: readonly Stream[]): Promise<void[]> => Promise.all(streams.map(({ ended }) => ended));
const openOf = (streams: readonly Stream[]): number => streams.filter((one) => one.isOpen()).length;

/** Signs a browser in with a key. Returns the headers of its later requests. */
async function signIn({ accountId, key }: Client): Promise<Headers> {
  const answer = await fetch(`${plane.baseUrl}/rest/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-sluice-console': '1' },
    body: JSON.stringify({ key }),
  });
  const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  return { cookie, 'x-sluice-account': accountId };
}

const signOut = ({ accountId }: Client, headers: Headers): Promise<Response> =>
  fetch(`${plane.baseUrl}/rest/v1/session/${accountId}`, {
    method: 'DELETE',
    headers: { ...headers, 'x-sluice-console': '1' },
  });

test('live streams: when a key is revoked its streams end, and the streams of other keys stay open', async () => {
  const [revoked, kept, stranger] = [
    await plane.newKey(client, everyScope),
    await plane.newKey(client, everyScope),
    await plane.newAccount(),
  ];
  const ends = await followAll(plane.baseUrl, bearer(revoked));
  const stays = [
    ...(await followAll(plane.baseUrl, bearer(kept))),
    ...(await followAll(plane.baseUrl, bearer(stranger))),
  ];
  expect((await client.delete(`/keys/${revoked.keyId}`)).status).toBe(200);
  await allEnded(ends);
  expect([ends.length > 0, openOf(stays)]).toEqual([true, stays.length]);
});

test('live streams: when an account begins to mask, views that show values end, and others stay open', async () => {
  const account = await plane.newAccount();
  const shows = endpoints.filter(
    (one) => one.streams && (one.personal.length > 0 || one.comparesPersonal !== comparesNothing),
  );
  const showing = shows.map(({ path }) => `${path}${queries[path] ?? ''}`);
  const narrow = await plane.newKey(account, everyScope);
  const [ends, stays] = [new Map<string, Stream>(), await followAll(plane.baseUrl, bearer(account))];
  for (const path of streaming) ends.set(path, await follow(plane.baseUrl, path, bearer(narrow)));
  expect((await account.patch('/account', { masksPersonalData: true })).status).toBe(200);
  for (const path of showing) await ends.get(path)?.ended;
  expect(showing.length).toBeGreaterThan(0);
  expect([...ends].filter(([, one]) => one.isOpen()).map(([path]) => path)).toEqual(
    streaming.filter((path) => !showing.includes(path)),
  );
  expect(openOf(stays)).toBe(stays.length);
});

test('live streams: a sign-out ends the streams of its browser, but not those of another browser with the same key', async () => {
  const [leaving, staying] = [await signIn(client), await signIn(client)];
  const [ends, stays] = [await followAll(plane.baseUrl, leaving), await followAll(plane.baseUrl, staying)];
  expect((await signOut(client, leaving)).status).toBe(200);
  await allEnded(ends);
  expect(openOf(stays)).toBe(stays.length);
});

test('live streams: streams in other control planes end when their key is revoked, expires or loses its scope', async () => {
  const keys = [
    await plane.newKey(client, everyScope),
    await plane.newKey(client, everyScope),
    await plane.newKey(client, everyScope),
  ] as const;
  const [revoked, expired, narrowed] = keys;
  const ends = await Promise.all(keys.map((key) => followAll(other.baseUrl, bearer(key))));
  const stays = await followAll(other.baseUrl, bearer(await plane.newKey(client, everyScope)));
  const change = (set: string, { keyId }: Client) =>
    plane.storage.fork().execute(`update api_keys set ${set} where id = ?`, [keyId]);
  await client.delete(`/keys/${revoked.keyId}`);
  await change(`expires_at = now() - interval '1 second'`, expired);
  await change(`scopes = '{audit:list}'`, narrowed);
  await allEnded(ends.flat());
  expect(openOf(stays)).toBe(stays.length);
});

test('live streams: streams in other control planes end with a sign-out, and when their session expires', async () => {
  const [signedOut, over] = [await signIn(client), await signIn(await plane.newAccount())];
  const ends = [...(await followAll(other.baseUrl, signedOut)), ...(await followAll(other.baseUrl, over))];
  await signOut(client, signedOut);
  await plane.storage
    .fork()
    .execute(`update sessions set expires_at = now() where account_id = ?`, [over['x-sluice-account']]);
  await allEnded(ends);
  expect(openOf(ends)).toBe(0);
});
