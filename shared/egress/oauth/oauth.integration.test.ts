import jws from 'jws';
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createSecretBox } from '../../contracts/config/secrets.ts';
import type { OutboundRequest } from '../outbound.ts';
import type { OAuthGrant } from '../oauth-grant.ts';
import type { NatsServer } from '../../embedded/nats/nats-server.ts';
import { openBucket } from '../../nats/buckets/bucket.ts';
import type { Bucket } from '../../nats/buckets/bucket.ts';
import { connectLog } from '../../nats/connection/connection.ts';
import type { LogConnection } from '../../nats/connection/connection.ts';
import { startScriptedDestination } from '../../testing/scripted-destination.ts';
import type { DestinationRequest, ScriptedDestination } from '../../testing/scripted-destination.ts';
import { asLogUser } from '../../testing/as-log-user.ts';
import { startTestNats } from '../../testing/servers.ts';
import { createEgressRules } from '../egress-rules.ts';
import { createGuardedLookup } from '../guarded-lookup.ts';
import { createSender } from '../sender.ts';
import type { Sender } from '../sender.ts';
import { withOAuth } from './oauth-sender.ts';
import { createTokenSource } from './token-source.ts';
import type { TokenSource } from './token-source.ts';
import { createBucketTokenStore } from './token-store.ts';

let nats: NatsServer;
let connection: LogConnection;
let bucket: Bucket;
let platform: ScriptedDestination;
let plain: Sender;
let nowMs = 0;
let nth = 0;

beforeAll(async () => {
  nats = await startTestNats();
  connection = await connectLog({ url: asLogUser(nats.url, 'pipeline'), name: 'test' });
  bucket = await openBucket(connection, { name: 'TOKENS', replicas: 1, bytesMax: 16 * 1024 * 1024 });
  platform = await startScriptedDestination();
  const rules = createEgressRules(['127.0.0.0/8']);
  const limits = { connectionsMax: 4, connectTimeoutMs: 30_000, headersTimeoutMs: 30_000, totalTimeoutMs: 30_000 };
  plain = createSender({ rules, lookupFor: createGuardedLookup(rules), limits });
});
beforeEach(() => {
  nth += 1;
  nowMs = Date.now();
});
afterAll(async () => {
  await plain.close();
  await platform.close();
  await connection.close();
  await nats.stop();
});

const accountId = 'account';
const box = createSecretBox(Buffer.alloc(32, 7).toString('base64'));

/** A token source as in another process, with no token in memory. */
const newSource = (): TokenSource =>
  createTokenSource({ store: createBucketTokenStore(() => bucket, box), requestTimeoutMs: 15_000, now: () => nowMs });

const clientOf = (sentIn: 'body' | 'basic' = 'body') => ({ id: `client-${nth}`, secret: 'secret canary', sentIn });

function refreshGrant(): OAuthGrant {
  const by = { kind: 'refresh-token', refreshToken: 'refresh-canary' } as const;
  return { tokenUrl: `${platform.url}/token`, by, client: clientOf() };
}

/** Answers each token request with the next token, and other requests according to their token. */
function giveTokens(more: Readonly<Record<string, unknown>> = {}, isGood = (_token: string) => true): () => number {
  let given = 0;
  platform.answer(({ path, headers }) => {
    if (path !== '/token') {
      const token = String(headers.authorization).replace('Bearer ', '');
      return { status: isGood(token) ? 200 : 401 };
    }
    given += 1;
    const body = { access_token: `token-${nth}-${given}`, token_type: 'Bearer', expires_in: 3_600, ...more };
    return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  });
  return () => given;
}

const formOf = ({ body }: DestinationRequest) => Object.fromEntries(new URLSearchParams(body));
const lastAsked = () => platform.requests.findLast(({ path }) => path === '/token') as DestinationRequest;

test('order of effects: a token is stored before it is used, because some platforms accept a refresh token only once', async () => {
  const given = giveTokens();
  const store = createBucketTokenStore(() => bucket, box);
  const failing = createTokenSource({
    store: {
      read: store.read,
      write: (account, key, entry, revision) =>
        entry.token === undefined
          ? store.write(account, key, entry, revision)
          : Promise.reject(new Error('the log is away')),
    },
    requestTimeoutMs: 15_000,
    now: () => nowMs,
  });
  const grant = refreshGrant();
  expect(await failing.get(accountId, grant, plain)).toMatchObject({ kind: 'none', isRefused: false });
  expect(given()).toBe(1);
});

test('token: is requested once, with a refresh token and the client in the body, and then reused', async () => {
  const given = giveTokens();
  const source = newSource();
  const grant = refreshGrant();
  const results = await Promise.all([1, 2, 3].map(() => source.get(accountId, grant, plain)));
  expect(results).toEqual([1, 2, 3].map(() => ({ kind: 'token', accessToken: `token-${nth}-1` })));
  expect(await source.get(accountId, refreshGrant(), plain)).toEqual(results[0]);
  expect(given()).toBe(1);
  expect(formOf(lastAsked())).toEqual({
    grant_type: 'refresh_token',
    refresh_token: 'refresh-canary',
    client_id: `client-${nth}`,
    client_secret: 'secret canary',
  });
});

test('token: client credentials go in the header, with a scope and a parameter of the platform', async () => {
  giveTokens();
  const grant: OAuthGrant = {
    tokenUrl: `${platform.url}/token`,
    by: { kind: 'client-credentials' },
    client: { id: `client-${nth}`, secret: 'plain', sentIn: 'basic' },
    scope: 'events:write',
    parameters: { audience: 'https://api.example.com' },
  };
  expect(await newSource().get(accountId, grant, plain)).toMatchObject({ kind: 'token' });
  const asked = lastAsked();
  expect(Buffer.from(String(asked.headers.authorization).slice(6), 'base64').toString()).toBe(`client-${nth}:plain`);
  expect(formOf(asked)).toEqual({
    grant_type: 'client_credentials',
    scope: 'events:write',
    audience: 'https://api.example.com',
  });
});

test('token: a service account signs a request with its identity and scope', async () => {
  giveTokens();
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const grant: OAuthGrant = {
    tokenUrl: `${platform.url}/token`,
    by: {
      kind: 'service-account',
      issuer: `sluice-${nth}@example.iam.gserviceaccount.com`,
      keyId: 'key-1',
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    },
    scope: 'https://www.googleapis.com/auth/datamanager',
  };
  expect(await newSource().get(accountId, grant, plain)).toMatchObject({ kind: 'token' });
  const form = formOf(lastAsked());
  expect(Object.keys(form)).toEqual(['assertion', 'grant_type']);
  expect(form['grant_type']).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
  const assertion = form['assertion'] ?? '';
  const publicPem = publicKey.export({ type: 'spki', format: 'pem' }) as string;
  expect(jws.verify(assertion, 'RS256', publicPem)).toBe(true);
  const { header, payload } = jws.decode(assertion) ?? {};
  expect(header).toMatchObject({ kid: 'key-1', typ: 'JWT' });
  const claims = payload as unknown as { iat: number; exp: number };
  expect(claims).toMatchObject({
    iss: `sluice-${nth}@example.iam.gserviceaccount.com`,
    aud: `${platform.url}/token`,
    scope: 'https://www.googleapis.com/auth/datamanager',
  });
  expect(claims.exp - claims.iat).toBe(3_600);
  expect(claims.iat).toBeLessThanOrEqual(nowMs / 1_000);
});

test('token: only one of several processes requests the token, and it is stored encrypted', async () => {
  const given = giveTokens();
  const grant = refreshGrant();
  const results = await Promise.all(
    [newSource(), newSource(), newSource()].map((source) => source.get(accountId, grant, plain)),
  );
  expect(results).toEqual([1, 2, 3].map(() => ({ kind: 'token', accessToken: `token-${nth}-1` })));
  expect(given()).toBe(1);
  const keys = await bucket.keys('token.*');
  const values = await Promise.all(
    keys.map(async (key) => Buffer.from((await bucket.get(key))?.value ?? []).toString()),
  );
  expect(values.length).toBeGreaterThan(0);
  for (const value of values) expect(value).toMatch(/^enc:v1:[\w-]+\.[\w-]+$/);
});

test('token: is replaced before it expires, and no request waits for the replacement', async () => {
  const given = giveTokens();
  const source = newSource();
  const grant = refreshGrant();
  await source.get(accountId, grant, plain);
  nowMs += 3_600_000 - 120_000;
  expect(await source.get(accountId, grant, plain)).toEqual({ kind: 'token', accessToken: `token-${nth}-1` });
  await expect
    .poll(() => source.get(accountId, grant, plain))
    .toEqual({ kind: 'token', accessToken: `token-${nth}-2` });
  nowMs += 4_000_000;
  expect(await source.get(accountId, grant, plain)).toEqual({ kind: 'token', accessToken: `token-${nth}-3` });
  expect(given()).toBe(3);
});

test('token: a token that is valid for two minutes is replaced after one minute, not at each use', async () => {
  const given = giveTokens({ expires_in: 120 });
  const [source, other] = [newSource(), newSource()];
  const grant = refreshGrant();
  for (let use = 0; use < 5; use += 1) {
    for (const one of [source, other]) {
      expect(await one.get(accountId, grant, plain)).toEqual({ kind: 'token', accessToken: `token-${nth}-1` });
    }
    nowMs += 11_000;
  }
  expect(given()).toBe(1);
  nowMs += 6_000;
  await expect
    .poll(() => source.get(accountId, grant, plain))
    .toEqual({ kind: 'token', accessToken: `token-${nth}-2` });
  expect(given()).toBe(2);
});

test('refresh token: when the platform issues a new refresh token, every process uses it from then on', async () => {
  giveTokens({ refresh_token: 'second-canary' });
  const grant = refreshGrant();
  await newSource().get(accountId, grant, plain);
  nowMs += 4_000_000;
  await newSource().get(accountId, grant, plain);
  expect(formOf(lastAsked())['refresh_token']).toBe('second-canary');
});

test.each([
  [400, { error: 'invalid_grant', error_description: 'of owner@example.com' }, true, 'invalid_grant'],
  [401, { error: 'invalid_client' }, true, 'invalid_client'],
  [200, { error: 'invalid_code' }, true, 'invalid_code'],
  [200, { error: 'Access Denied', error_description: 'too many requests' }, false, 'Access Denied'],
  [403, 'no', true, 'status 403'],
  [429, { error: 'slow_down' }, false, 'slow_down'],
  [503, 'no', false, 'status 503'],
  [200, { token_type: 'Bearer' }, false, expect.any(String)],
])('no token: %i with %j: whether it refuses the credentials', async (status, body, isRefused, reason) => {
  platform.answer(() => ({ status, body: typeof body === 'string' ? body : JSON.stringify(body) }));
  const result = await newSource().get(accountId, refreshGrant(), plain);
  expect(result).toEqual({ kind: 'none', reason, isRefused });
  expect(JSON.stringify(result)).not.toContain('owner');
});

test('no token: a token or refresh token of more than 8 KiB is not stored', async () => {
  for (const more of [{ access_token: 'a'.repeat(8_193) }, { refresh_token: 'r'.repeat(8_193) }]) {
    nth += 1;
    giveTokens(more);
    expect(await newSource().get(accountId, refreshGrant(), plain)).toEqual({
      kind: 'none',
      reason: 'a token of the answer has more than 8192 bytes',
      isRefused: true,
    });
  }
});

test('token store: an account has a sixteenth of the bucket, and its refresh tokens are kept for longest', async () => {
  const store = createBucketTokenStore(() => bucket, box);
  const hashOf = (n: number): string => `${n}`.padStart(64, '0');
  const token = { accessToken: 'a'.repeat(8_192), expiresAtMs: nowMs + 3_600_000 };
  await store.write('other', hashOf(1_000), { v: 1, token }, 0);
  await store.write('many', hashOf(0), { v: 1, token, refreshToken: 'r' }, 0);
  for (let n = 1; n <= 300; n += 1) await store.write('many', hashOf(n), { v: 1, token }, 0);
  let bytes = 0;
  for (let n = 0; n <= 300; n += 1) bytes += (await bucket.get(`token.${hashOf(n)}`))?.value?.length ?? 0;
  expect(bytes).toBeLessThan(2 * 1024 ** 2);
  expect(bytes).toBeGreaterThan(1024 ** 2);
  for (const n of [0, 300, 1_000]) expect((await store.read(hashOf(n))).entry).toMatchObject({ token });
});

test('refused token: after a refusal the platform is asked again after a minute, not for every event', async () => {
  let asked = 0;
  platform.answer(() => {
    asked += 1;
    return { status: 400, body: '{"error":"invalid_grant"}' };
  });
  const source = newSource();
  const grant = refreshGrant();
  for (let i = 0; i < 5; i += 1) await source.get(accountId, grant, plain);
  await newSource().get(accountId, grant, plain);
  expect(asked).toBe(1);
  nowMs += 61_000;
  giveTokens();
  expect(await source.get(accountId, grant, plain)).toMatchObject({ kind: 'token' });
});

test('token: if the process that requests the token dies, a waiting process requests it after a while', async () => {
  const grant = refreshGrant();
  platform.answer(() => 'hang');
  const dying = newSource().get(accountId, grant, plain);
  await expect.poll(() => lastAsked().body).toContain(`client-${nth}`);
  giveTokens();
  nowMs += 21_000;
  expect(await newSource().get(accountId, grant, plain)).toMatchObject({ kind: 'token' });
  void dying;
});

const requestOf = (grant: OAuthGrant): OutboundRequest => ({
  method: 'POST',
  url: `${platform.url}/events`,
  headers: {},
  body: '{}',
  oauth: { grant },
});

test('sender: adds the token, and replaces a token that the platform rejects', async () => {
  const given = giveTokens({}, (token) => token.endsWith('-2'));
  const sender = withOAuth(plain, newSource(), accountId);
  expect(await sender.send(requestOf(refreshGrant()))).toMatchObject({ kind: 'answered', answer: { status: 200 } });
  expect(given()).toBe(2);
  const { oauth: _, ...without } = requestOf(refreshGrant());
  expect(await sender.send(without)).toMatchObject({ answer: { status: 401 } });
});

test('sender: without a token nothing is sent, and the failure is not permanent', async () => {
  platform.answer(() => ({ status: 400, body: '{"error":"invalid_grant"}' }));
  const before = platform.requests.length;
  const result = await withOAuth(plain, newSource(), accountId).send(requestOf(refreshGrant()));
  expect(result).toEqual({
    kind: 'failed',
    failure: 'connection',
    reason: 'oauth: invalid_grant',
    permanent: false,
    refusesAccess: true,
  });
  expect(platform.requests.slice(before).map(({ path }) => path)).toEqual(['/token']);
});
