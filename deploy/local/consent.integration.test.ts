import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NatsServer } from '../../shared/embedded/nats/nats-server.ts';
import { createTestDatabase, startTestNats } from '../../shared/testing/servers.ts';
import type { TestDatabase } from '../../shared/testing/servers.ts';
import { makeStackFolder } from './testing/make-stack-folder.ts';
import { chooseStackPorts, runStack } from './testing/running-stack.ts';
import type { RunningStack } from './testing/running-stack.ts';
import { createStackClient } from './testing/stack-client.ts';
import type { StackClient } from './testing/stack-client.ts';

const settle = { timeout: 60_000, interval: 200 };

let folder: string;
let nats: NatsServer;
let database: TestDatabase;
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
}, 240_000);

afterAll(async () => {
  await stack?.stop();
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

test('consent: a destination that serves a purpose gets what visitors allow, by whatever says so, and another gets all', async () => {
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
