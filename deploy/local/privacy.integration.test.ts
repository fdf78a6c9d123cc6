import { rm } from 'node:fs/promises';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyCertificate } from '../../shared/contracts/erasure-certificate.ts';
import type { CertificatePayload } from '../../shared/contracts/erasure-certificate.ts';
import { openFrame } from '../../shared/contracts/events/compressed-frame.ts';
import type { NatsServer } from '../../shared/embedded/nats/nats-server.ts';
import { readBucket } from '../../shared/nats/buckets/bucket.ts';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { erasureHoldsWithinMs } from '../../shared/nats/erasures/follow-erasures.ts';
import { readMessages } from '../../shared/nats/messages/read-messages.ts';
import { buckets, streams } from '../../shared/nats/streams/topology.ts';
import { defaultsOf } from '../../shared/runtime/env.ts';
import { createTestDatabase, startTestNats } from '../../shared/testing/servers.ts';
import type { TestDatabase } from '../../shared/testing/servers.ts';
import { openTestPool } from '../../shared/testing/test-pool.ts';
import { notOfTwin } from '../../shared/testing/twin-rows.ts';
import { retentionEnv } from '../../pipeline/jobs/retention/retention-settings.ts';
import { makeStackFolder } from './testing/make-stack-folder.ts';
import { chooseStackPorts, runStack } from './testing/running-stack.ts';
import type { RunningStack } from './testing/running-stack.ts';
import { createStackClient } from './testing/stack-client.ts';
import type { StackClient } from './testing/stack-client.ts';

const settle = { timeout: 60_000, interval: 200 };

let folder: string;
let nats: NatsServer;
let database: TestDatabase;
let pool: Pool;
let log: LogConnection;
let stack: RunningStack;
let client: StackClient;

beforeAll(async () => {
  [folder, nats, database] = await Promise.all([
    makeStackFolder(),
    startTestNats({ furtherConfig: '' }),
    createTestDatabase(),
  ]);
  stack = await runStack(folder, await chooseStackPorts(), { NATS_URL: nats.url, DATABASE_URL: database.url });
  client = createStackClient(stack.credentials);
  pool = openTestPool(database.url, 2);
  log = await connectLog({ url: nats.url, name: 'test' });
}, 240_000);

afterAll(async () => {
  await stack?.stop();
  await log?.close();
  await pool?.end();
  await nats?.stop();
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

const eventsAt = async (path: string): Promise<readonly string[]> =>
  (await client.sinkRequests(path)).map(({ body }) => String((body as { event?: { event?: unknown } }).event?.event));

async function postSegment(call: string, message: Readonly<Record<string, unknown>>): Promise<number> {
  const { gateway, sourceToken } = stack.credentials;
  const answer = await fetch(`${gateway}/v1/${call}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ writeKey: sourceToken, anonymousId: 'segment', ...message }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

test('consent: a destination with a purpose gets only what visitors allow, by any consent signal, and one without a purpose gets all', async () => {
  const destination = await client.api('POST', 'destinations', {
    name: 'ads',
    type: 'HTTPDestination',
    settings: { httpDestinationUrl: `${stack.credentials.sink}/ads` },
  });
  await client.api('POST', 'collections/consentSettings', {
    name: 'Advertising',
    defaultState: 'Denied',
    regions: ['EU'],
    destinationIds: [destination['id']],
    signals: { segment: ['C4'], oneTrust: ['C0004'], gpp: ['saleOptOut'], gpc: 'deny' },
  });
  await client.publish('a purpose');
  const american = { country: 'US' };
  const say = (event: string, own: Readonly<Record<string, unknown>>): Promise<number> =>
    client.track({ event, userId: event, ...own });
  expect(await say('own grant', { consent: { advertising: true } })).toBe(200);
  expect(await say('own denial', { consent: { advertising: false }, userProperties: american })).toBe(200);
  expect(await say('nothing said, unknown region', {})).toBe(200);
  expect(await say('nothing said, elsewhere', { userProperties: american })).toBe(200);
  expect(await say('visitor grant', { userProperties: { consent: { advertising: true } } })).toBe(200);
  expect(await say('signal denial', { userProperties: american, defaultProperties: { us_privacy: '1YYN' } })).toBe(200);
  expect(await say('signal grant', { defaultProperties: { optanon: 'groups=C0001:1,C0004:1' } })).toBe(200);
  expect(await say('page GPC', { userProperties: american, defaultProperties: { gpc: true } })).toBe(200);
  const preferences = (allowed: boolean) => ({ consent: { categoryPreferences: { C4: allowed } } });
  expect(await postSegment('track', { event: 'segment grant', context: preferences(true) })).toBe(200);
  expect(await postSegment('track', { event: 'segment denial', context: preferences(false) })).toBe(200);
  expect(await say('last', { consent: { advertising: true } })).toBe(200);
  const allowed = ['own grant', 'nothing said, elsewhere', 'visitor grant', 'signal grant', 'segment grant', 'last'];
  await expect.poll(async () => new Set(await eventsAt('/demo')).size, settle).toBe(11);
  await expect.poll(async () => (await eventsAt('/ads')).toSorted(), settle).toEqual(allowed.toSorted());
  const stopped = async (): Promise<unknown> => {
    const { entities } = await client.api('GET', 'events?event=own%20denial');
    return JSON.stringify(entities);
  };
  await expect.poll(stopped, settle).toContain('"reason":"consent: Advertising"');
  expect((await eventsAt('/ads')).toSorted()).toEqual(allowed.toSorted());
}, 180_000);

/** Occurs in every identifier and property of Ann, and in nothing else. */
const canary = 'ann-canary';
const ann = {
  userId: `${canary}-device`,
  externalId: `${canary}-customer`,
  email: `${canary}@example.com`,
  userProperties: { first_name: canary },
};
const bob = { userId: 'bob-device', email: 'bob@example.com', userProperties: { first_name: 'Bob' } };

async function tablesThatName(text: string): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await pool.query(
      `select from ${name} as t where t::text like $1 and ${notOfTwin('t')} limit 1`,
      [`%${text}%`],
    );
    if (rowCount === 1) found.push(name);
  }
  return found;
}

/** The streams and buckets that contain a text, each with the time in ms of its newest message that does. */
async function logThatNames(text: string): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for (const stream of Object.values(streams)) {
    await readMessages(log, {
      stream,
      filterSubject: '>',
      from: { seq: 1 },
      content: 'all',
      messagesPerPull: 100,
      silenceMaxMs: 20_000,
      onMessage({ data, storedAtMs }) {
        const isNamed = [data, stream === streams.events ? openFrame(data) : data].some((bytes) =>
          Buffer.from(bytes).includes(text),
        );
        if (isNamed) found.set(stream, storedAtMs);
      },
    });
  }
  for (const bucket of Object.values(buckets)) {
    for (const [key, value] of (await readBucket(log, bucket)) ?? []) {
      if (key.includes(text) || Buffer.from(value).includes(text)) found.set(bucket, 0);
    }
  }
  return found;
}

/** Sends Ann's data through other routes: identify, batch and pixel. */
async function sendOtherWays(): Promise<void> {
  const { gateway, sourceToken: token } = stack.credentials;
  const post = (path: string, body: object): Promise<Response> =>
    fetch(`${gateway}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, ...body }),
    });
  const row = { event: 'Batched', distinctId: 'batched', ...ann, properties: { note: canary } };
  const pixel = new URLSearchParams({ event: 'Seen', userId: ann.userId, note: canary });
  const answers = await Promise.all([
    post('/api/v1/identify', { ...ann, userProperties: { first_name: canary, city: canary } }),
    post('/api/v1/batch', { events: [row] }),
    fetch(`${gateway}/pixel/${token}.gif?${pixel.toString()}`),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
}

/** The payload of an erasure's certificate, verified as by a receiver. */
async function certificateOf(erasureId: string): Promise<CertificatePayload> {
  const [certificate, keys] = [
    await client.api('GET', `erasures/${erasureId}/certificate`),
    await client.api('GET', 'account/keys'),
  ];
  return verifyCertificate(certificate, keys);
}

const textsAt = async (path: string): Promise<string[]> =>
  (await client.sinkRequests(path)).map(({ body }) => JSON.stringify(body));
const countAt = async (path: string, text: string): Promise<number> =>
  (await textsAt(path)).filter((body) => body.includes(text)).length;

test('erasure: a second after the answer, the visitor’s data is no longer sent; the certificate lists what is still stored and how long', async () => {
  const refusing = await client.api('POST', 'destinations', {
    name: 'refusing',
    type: 'HTTPDestination',
    settings: { httpDestinationUrl: `${stack.credentials.sink}/refusing` },
  });
  await client.publish('adds a destination that refuses all');
  await client.setSink({ path: '/demo', status: 503 });
  await client.setSink({ path: '/refusing', status: 400 });
  const beganAt = new Date(Date.now() - 60_000).toISOString();
  // This device's visitor is merged into the visitor with the external id.
  expect(await client.track({ event: 'Visit', userId: `${canary}-other-device` })).toBe(200);
  for (let n = 0; n < 4; n += 1) {
    for (const person of [ann, bob]) expect(await client.track({ event: `Order ${n}`, ...person })).toBe(200);
  }
  const { externalId } = ann;
  expect(await client.track({ event: 'Again', userId: `${canary}-other-device`, externalId })).toBe(200);
  await sendOtherWays();
  const refusedPath = `destinations/${String(refusing['id'])}`;
  const refused = async (): Promise<number> =>
    ((await client.api('GET', `${refusedPath}/dead-letters?limit=50`))['entities'] as unknown[]).length;
  await expect.poll(refused, settle).toBe(13);
  await expect.poll(() => countAt('/demo', canary), settle).toBeGreaterThan(0);
  await expect.poll(() => countAt('/demo', 'bob'), settle).toBeGreaterThan(0);

  const erased = await client.api('DELETE', `visitors/${ann.userId}`);
  expect(erased).toMatchObject({ deleted: true });
  await new Promise((resolve) => setTimeout(resolve, erasureHoldsWithinMs));
  const sent = { demo: await countAt('/demo', canary), refusing: await countAt('/refusing', canary) };
  const others = await countAt('/refusing', 'bob');

  // Both destinations accept again, and all events are replayed.
  await client.setSink({ path: '/demo', status: 200 });
  await client.setSink({ path: '/refusing', status: 200 });
  const toNow = new Date().toISOString();
  await client.api('POST', `${refusedPath}/replay`, { what: 'dead-letters' });
  await client.api('POST', `${refusedPath}/replay`, { what: 'log', from: beganAt, to: toNow });
  await expect.poll(() => countAt('/refusing', 'bob'), settle).toBe(others + 8);
  const arrived = async (): Promise<number> =>
    (await client.sinkRequests('/demo')).filter(
      ({ status, body }) => status === 200 && JSON.stringify(body).includes('bob'),
    ).length;
  await expect.poll(arrived, settle).toBe(4);
  expect({ demo: await countAt('/demo', canary), refusing: await countAt('/refusing', canary) }).toEqual(sent);

  const historyMs = defaultsOf(retentionEnv).RETENTION_HISTORY_MS;
  await expect.poll(async () => [...(await logThatNames(canary)).keys()], settle).toEqual([streams.events]);
  // No service wrote a line that names her.
  expect(stack.output()).not.toContain(canary);
  const certificate = await certificateOf(String(erased['erasureId']));
  expect(JSON.stringify(certificate)).not.toContain(canary);
  const until = new Map(certificate.retained.map((one) => [one.name, one.until] as const));
  const holders = [...(await logThatNames(canary)).keys(), ...(await tablesThatName(canary))];
  expect(holders.filter((holder) => typeof until.get(holder) !== 'string')).toEqual([]);
  expect(Date.parse(until.get(streams.events) ?? '')).toBe(Date.parse(String(erased['erasedAt'])) + historyMs);
  const heldUntilMs = ((await logThatNames(canary)).get(streams.events) ?? 0) + historyMs;
  expect(heldUntilMs).toBeLessThanOrEqual(Date.parse(String(erased['erasedAt'])) + historyMs);
  // `visitor_changes` names recently changed visitors for some minutes.
  expect(['visitor_changes', undefined]).toContain((await tablesThatName(canary)).join() || undefined);

  // Ann comes back.
  const { userId, email } = ann;
  expect(await client.track({ event: 'Back', userId, email, userProperties: { city: 'Bern' } })).toBe(200);
  await expect.poll(() => countAt('/demo', '"event":"Back"'), settle).toBe(1);
  const [back] = (await client.sinkRequests('/demo')).filter(({ body }) =>
    JSON.stringify(body).includes('"event":"Back"'),
  );
  expect(back?.body).toMatchObject({ visitor: { id: userId, email, city: 'Bern' } });
  expect(JSON.stringify(back?.body)).not.toContain('first_name');
}, 240_000);
