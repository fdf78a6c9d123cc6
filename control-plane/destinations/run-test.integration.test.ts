import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Client } from '../testing/client.ts';
import { startScriptedDestination } from '../../shared/testing/scripted-destination.ts';
import type { ScriptedDestination } from '../../shared/testing/scripted-destination.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;
let client: Client;
let platform: ScriptedDestination;

beforeAll(async () => {
  plane = await startTestControlPlane();
  platform = await startScriptedDestination();
});
beforeEach(async () => {
  client = await plane.newAccount();
  platform.answer(() => 200);
});
afterAll(async () => {
  await plane.stop();
  await platform.close();
});

async function createDestination(settings: Readonly<Record<string, string>> = {}): Promise<string> {
  const { body } = await client.post('/destinations', {
    type: 'HTTPDestination',
    settings: { httpDestinationUrl: `${platform.url}/draft`, ...settings },
  });
  return body.id;
}

/** Tests a destination through the control plane at `baseUrl`. */
async function testAt(baseUrl: string, id: string): Promise<{ readonly status: number; readonly body: unknown }> {
  const answer = await fetch(`${baseUrl}/rest/v1/destinations/${id}/test`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.key}` },
  });
  return { status: answer.status, body: await answer.json() };
}

test('destination test: sends one event and shows the request and the answer', async () => {
  const id = await createDestination();
  platform.answer(() => ({ status: 202, headers: { 'x-seen': 'yes' }, body: 'taken' }));
  const { status, body } = await client.post(`/destinations/${id}/test`);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    outcome: 'delivered',
    reason: null,
    settings: 'draft',
    request: { method: 'POST', url: `${platform.url}/draft`, headers: { 'idempotency-key': body.eventId } },
    answer: { status: 202, headers: { 'x-seen': 'yes' }, body: 'taken' },
  });
  const sent = platform.requests.at(-1);
  expect(body.request.body).toBe(sent?.body);
  const { event } = JSON.parse(sent?.body ?? '') as { event: Record<string, unknown> };
  expect(event).toMatchObject({ event: 'Order Completed', test: true, account_id: client.accountId, id: body.eventId });
  expect((await client.get(`/destinations/${id}/health`)).body).toMatchObject({ totalDispatches: 0 });
  const audit = await client.get(`/audit?action=destination.test`);
  expect(audit.body.entities).toMatchObject([{ entityId: id, details: { settings: 'draft' } }]);
});

test('destination test: the caller can choose the event and its properties', async () => {
  const id = await createDestination();
  const { body } = await client.post(`/destinations/${id}/test`, { event: 'Signed Up', properties: { plan: 'pro' } });
  expect(body.outcome).toBe('delivered');
  const { event } = JSON.parse(platform.requests.at(-1)?.body ?? '') as { event: Record<string, unknown> };
  expect(event).toMatchObject({ event: 'Signed Up', event_properties: { plan: 'pro' } });
});

test('destination test: uses the published settings on request, once the destination is live', async () => {
  const id = await createDestination();
  const path = `/destinations/${id}/test`;
  const early = await client.post(path, { settings: 'published' });
  expect([early.status, early.body.error]).toEqual([
    400,
    'settings published: the destination is not in the live version',
  ]);
  await client.publish();
  await client.patch(`/destinations/${id}`, { settings: { httpDestinationUrl: `${platform.url}/changed` } });
  expect((await client.post(path, { settings: 'published' })).body).toMatchObject({
    settings: 'published',
    request: { url: `${platform.url}/draft` },
  });
  expect((await client.post(path, { settings: 'draft' })).body.request.url).toBe(`${platform.url}/changed`);
});

test('destination test: the answer shows no secret, however the platform echoes it', async () => {
  const id = await createDestination({
    httpDestinationUrl: `${platform.url}/in?api_key=query-canary&page=2`,
    headers: JSON.stringify({ Authorization: 'Bearer header-canary', 'X-Team': 'team-canary' }),
    signingSecret: 'signing-canary',
  });
  platform.answer(({ path: url, headers, body }) => {
    const encoded = Buffer.from(`x:${String(headers.authorization)}`).toString('base64');
    const echo = JSON.stringify({ url, headers, body, encoded, key: 'signing-canary' });
    const answered = { 'x-echo': String(headers['x-team']), 'set-cookie': 'session=fresh-canary' };
    return { status: 200, headers: answered, body: echo };
  });
  const { body } = await client.post(`/destinations/${id}/test`);
  const sent = platform.requests.at(-1)?.headers;
  expect(sent).toMatchObject({ authorization: 'Bearer header-canary', 'x-team': 'team-canary' });
  expect(body).toMatchObject({
    outcome: 'delivered',
    request: {
      url: `${platform.url}/in?api_key=********&page=2`,
      headers: { authorization: 'Bearer ********', 'x-team': '********', 'x-signature-256': '********' },
    },
    answer: { headers: { 'x-echo': '********', 'set-cookie': '********' } },
  });
  const text = JSON.stringify(body);
  expect(text).not.toContain('canary');
  expect(text).not.toContain(String(sent?.['x-signature-256']).slice(7));
  expect(text).not.toContain(Buffer.from('header-canary').toString('base64').slice(2, 14));
});

test.each([
  [401, 'held', 'status 401'],
  [302, 'reject', 'status 302'],
  [503, 'retry', 'status 503'],
])('destination test: %i is %s', async (status, outcome, reason) => {
  const id = await createDestination();
  platform.answer(() => ({ status, headers: { location: '/elsewhere' } }));
  expect((await client.post(`/destinations/${id}/test`)).body).toMatchObject({ outcome, reason, answer: { status } });
});

test('destination test: no request is sent to an address that is not allowed', async () => {
  const id = await createDestination({ httpDestinationUrl: 'http://169.254.169.254/latest/meta-data' });
  expect((await client.post(`/destinations/${id}/test`)).body).toMatchObject({
    outcome: 'reject',
    reason: 'address or port not allowed (EGRESS_ALLOW)',
    answer: null,
  });
});

test('destination test: a platform that does not answer ends the test at its time limit', async () => {
  const another = await plane.startAnother({ DESTINATION_TEST_TIMEOUT_MS: 500 });
  const id = await createDestination();
  platform.answer(() => 'hang');
  expect(await testAt(another.baseUrl, id)).toMatchObject({
    status: 200,
    body: { outcome: 'retry', reason: expect.stringMatching(/TIMEOUT/), answer: null },
  });
  await another.stop();
});

test('destination test: only a few tests run at once, and a shutdown ends the tests under way', async () => {
  const another = await plane.startAnother({ DESTINATION_TEST_TIMEOUT_MS: 60_000 });
  const id = await createDestination();
  let asked = 0;
  platform.answer(() => {
    asked += 1;
    return 'hang';
  });
  const first = [testAt(another.baseUrl, id), testAt(another.baseUrl, id)];
  await expect.poll(() => asked, { timeout: 45_000 }).toBe(2);
  expect(await testAt(another.baseUrl, id)).toMatchObject({
    status: 429,
    body: { error: expect.stringContaining('too many') },
  });
  await another.stop();
  for (const test of first) expect(await test).toMatchObject({ status: 200, body: { outcome: 'retry', answer: null } });
});

test('destination test: a long answer is cut', async () => {
  const id = await createDestination();
  platform.answer(() => ({ status: 200, body: 'x'.repeat(200_000) }));
  const { body } = await client.post(`/destinations/${id}/test`);
  expect(body).toMatchObject({ outcome: 'delivered', answer: { body: 'x'.repeat(16_384) } });
});

test.each([
  ['an unknown field', { evnet: 'x' }, 'evnet is not a known field'],
  ['an empty name', { event: '' }, 'event must be a string of 1 to 1000 characters'],
  ['properties that are none', { properties: [] }, 'properties must be an object'],
  ['settings of another kind', { settings: 'live' }, 'settings must be one of draft, published'],
])('destination test: refuses %s', async (_case, body, error) => {
  const id = await createDestination();
  expect(await client.post(`/destinations/${id}/test`, body)).toMatchObject({ status: 400, body: { error } });
});

test('sandbox: a documented platform is simulated, without an account or a network', async () => {
  const { body: created } = await client.post('/destinations', { type: 'Facebook' });
  const { status, body } = await client.post(`/destinations/${created.id}/test`, { sandbox: true });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    outcome: 'delivered',
    request: {
      url: expect.stringMatching(/^https:\/\/graph\.facebook\.com\/v[\d.]+\/\d+\/events$/),
      headers: { authorization: 'Bearer ********' },
      body: expect.stringContaining('"event_name":"Purchase"'),
    },
    answer: { status: 200, body: expect.stringContaining('"events_received":1') },
    sandbox: { scenario: 'success', madeUpSettings: ['pixelId', 'accessToken'], problems: [] },
  });
  const audit = await client.get(`/audit?action=destination.test`);
  expect(audit.body.entities).toMatchObject([{ entityId: created.id, details: { settings: 'draft', sandbox: true } }]);
});

test('sandbox: the scenario decides the answer, which is read like an answer of the real platform', async () => {
  const { body: created } = await client.post('/destinations', {
    type: 'TikTok',
    settings: { pixelCode: 'C1A2B3C4D5E6F7', accessToken: 'secret-canary' },
  });
  const path = `/destinations/${created.id}/test`;
  const throttled = (await client.post(path, { sandbox: true, scenario: 'throttled' })).body;
  expect(throttled).toMatchObject({
    outcome: 'retry',
    answer: { status: 200, body: expect.stringContaining('40100') },
    sandbox: { scenario: 'throttled', madeUpSettings: [] },
  });
  const refused = (await client.post(path, { sandbox: true, scenario: 'refusal' })).body;
  expect(refused).toMatchObject({ outcome: 'reject', sandbox: { problems: [{ message: expect.any(String) }] } });
  expect(JSON.stringify([throttled, refused])).not.toContain('canary');
});

test('sandbox: a scenario that is unknown, or given without sandbox, is a 400', async () => {
  const id = await createDestination();
  const path = `/destinations/${id}/test`;
  expect(await client.post(path, { scenario: 'throttled' })).toMatchObject({
    status: 400,
    body: { error: 'scenario: goes with sandbox true only' },
  });
  expect((await client.post(path, { sandbox: true, scenario: 'nonsense' })).status).toBe(400);
});

test('destination test: no edit of the draft can send a stored secret to an address other than its own', async () => {
  const elsewhere = await startScriptedDestination();
  try {
    const secrets = { headers: '{"X-Canary":"stored-canary"}', signingSecret: 'stored-canary' };
    const id = await createDestination(secrets);
    await client.publish();
    const path = `/destinations/${id}`;
    const moved = { httpDestinationUrl: `${elsewhere.url}/taken` };
    const masked = { headers: '********', signingSecret: '********' };
    for (const settings of [moved, { ...moved, ...masked }, { ...moved, headers: '{}' }]) {
      const refused = await client.patch(path, { settings });
      expect([refused.status, refused.body.error]).toEqual([
        400,
        expect.stringMatching(/settings\.signingSecret must be sent again/),
      ]);
    }
    // The secrets cannot be moved in two steps either.
    expect((await client.patch(path, { status: 'Disabled', settings: { httpDestinationUrl: null } })).status).toBe(400);
    // If its secrets are sent again, the destination may move. A revert then restores the published address and secrets
    // together.
    const own = { ...moved, headers: '{"X-Canary":"own"}', signingSecret: null };
    expect((await client.patch(path, { settings: own })).status).toBe(200);
    expect((await client.patch(path, { settings: { ...masked, signingSecret: null } })).status).toBe(200);
    await client.post(`${path}/test`);
    const reverted = { entities: [{ collection: 'destinations', id }] };
    expect((await client.post('/versions/draft/revert', reverted)).body.revertedCount).toBe(1);
    expect((await client.patch(path, { settings: moved })).status).toBe(400);
    await client.delete(path);
    expect((await client.post('/versions/draft/abandon')).status).toBe(200);
    expect((await client.patch(path, { settings: moved })).status).toBe(400);
    await client.post(`${path}/test`);
    await client.post(`${path}/test`, { settings: 'published' });
    expect(elsewhere.requests.map(({ headers }) => headers['x-canary'])).toEqual(['own']);
    expect(JSON.stringify(elsewhere.requests)).not.toContain('stored-canary');
    expect(platform.requests.at(-1)?.headers['x-canary']).toBe('stored-canary');
    // Another path on the same scheme, host and port does not count as another address.
    const { origin } = new URL(platform.url);
    expect((await client.patch(path, { settings: { httpDestinationUrl: `${origin}/another` } })).status).toBe(200);
    await client.post(`${path}/test`);
    expect(platform.requests.at(-1)).toMatchObject({ path: '/another', headers: { 'x-canary': 'stored-canary' } });
    for (const url of [origin.replace('//', '//platform@'), origin.replace('127.0.0.1', 'localhost'), `${origin}0`]) {
      expect([url, (await client.patch(path, { settings: { httpDestinationUrl: url } })).status]).toEqual([url, 400]);
    }
  } finally {
    await elsewhere.close();
  }
});
