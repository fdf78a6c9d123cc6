import { afterAll, beforeAll, expect, test } from 'vitest';
import { client } from '../../shared/nats/connection/client.ts';
import { streams } from '../../shared/nats/streams/topology.ts';
import { token, track } from '../testing/contract-row.ts';
import { startRouteRig } from '../testing/route-rig.ts';
import type { RouteRig } from '../testing/route-rig.ts';
import { allTestSources, testSources } from '../testing/test-sources.ts';

let rig: RouteRig;
beforeAll(async () => {
  rig = await startRouteRig();
});
afterAll(() => rig.stop());

test('stored: an event is in the log as it was received, with its key masked', async () => {
  const body = `{ "event":"Kept","token":"${token}", "distinctId":"kept-1","n":1.50,\n"nested":{"a":[1,"\\u00e9"]},"again":"${token}" }`;
  expect(
    (await rig.post('track', body, { 'user-agent': 'Mozilla/5.0 (test)', 'x-forwarded-for': '198.51.100.9' })).status,
  ).toBe(200);
  const kept = (await rig.log.envelopes()).find((envelope) => envelope.id === 'kept-1');
  const stars = '*'.repeat(token.length);
  expect(kept).toMatchObject({
    v: 1,
    kind: 'track',
    account: 'account-1',
    source: 'server',
    ip: '198.51.100.9',
    ua: 'Mozilla/5.0 (test)',
    body: { event: 'Kept', n: 1.5, nested: { a: [1, 'é'] }, token: stars, again: stars },
  });
  expect(kept?.at).toBeGreaterThan(Date.now() - 10_000);
  const raw = await rig.log.rawFrames();
  expect(raw).toContain('"n":1.50');
  for (const source of allTestSources) expect(raw).not.toContain(source.token);
});

test.each([
  ['pixel', `/pixel/${testSources.web.token}.gif?event=Seen`, testSources.web.token],
  ['redirect', `/redirect/${testSources.link.token}?from=mail`, testSources.link.token],
])('stored: a key in the address of a %s is masked where the query repeats it', async (name, path, key) => {
  const query = `&distinctId=repeats-${name}&current_url=/a?key=${key}&note=${key}&externalId=${key}`;
  await fetch(`${rig.gateway.url}${path}${query}`, { redirect: 'manual' });
  const found = (await rig.log.envelopes()).find((envelope) => envelope.id === `repeats-${name}`);
  const stars = '*'.repeat(key.length);
  expect(found?.body).toMatchObject({
    externalId: stars,
    eventProperties: { note: stars },
    defaultProperties: { current_url: `/a?key=${stars}` },
  });
  expect(await rig.log.rawFrames()).not.toContain(key);
});

test.each([undefined, null])('stored: an event whose distinctId is %j gets an id', async (distinctId) => {
  const userId = `nameless-${distinctId}`;
  await rig.post('track', track({ event: 'Nameless', userId, distinctId }));
  const found = (await rig.log.envelopes()).find((envelope) => envelope.body['userId'] === userId);
  expect(found?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('stored: a test key marks its events', async () => {
  await rig.post('track', track({ token: testSources.server.testToken, distinctId: 'tested' }));
  expect((await rig.log.envelopes()).find((envelope) => envelope.id === 'tested')?.test).toBe(true);
});

test('stored: for a source that excludes the request context, no context is stored', async () => {
  await rig.post('track', track({ token: testSources.discreet.token, distinctId: 'discreet' }));
  const found = (await rig.log.envelopes()).find((envelope) => envelope.id === 'discreet');
  expect(found).toBeDefined();
  expect(found).not.toHaveProperty('ip');
  expect(found).not.toHaveProperty('ua');
});

test('stored: events of a source with bot control carry a score', async () => {
  const send = (distinctId: string, fields: object, userAgent: string) =>
    rig.post('track', track({ token: testSources.bots.token, distinctId, ...fields }), { 'user-agent': userAgent });
  const browser =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36';
  await send('crawler', {}, 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)');
  await send('browser', {}, browser);
  await send('said', { defaultProperties: { is_bot: true } }, browser);
  await send('behind', { identityContext: { userAgent: browser } }, 'curl/8.0');
  const scores = new Map((await rig.log.envelopes()).map((envelope) => [envelope.id, envelope.bot]));
  expect(['crawler', 'browser', 'said', 'behind'].map((id) => scores.get(id))).toEqual([100, 0, 100, 0]);
});

test('stored: consent strings in the query of an address are stored as context, under their own context names', async () => {
  const query = `event=Shown&distinctId=pixel-consent&gdpr=1&gdpr_consent=${'C'.repeat(3_000)}&gpp=D&gpp_sid=7&us_privacy=1YNN`;
  expect((await fetch(`${rig.gateway.url}/pixel/${testSources.web.token}.gif?${query}`)).status).toBe(200);
  const found = (await rig.log.envelopes()).find((envelope) => envelope.id === 'pixel-consent');
  expect(found?.body['defaultProperties']).toMatchObject({
    gdpr_applies: '1',
    tcf: 'C'.repeat(3_000),
    gpp: 'D',
    gpp_sid: '7',
    us_privacy: '1YNN',
  });
});

test.each([
  ['1', true],
  ['0', undefined],
  ['true', undefined],
  ['', undefined],
])('stored: Global Privacy Control is stored only if the header Sec-GPC is exactly 1: %j', async (value, expected) => {
  const distinctId = `gpc-${value}`;
  const consent = { advertising: false };
  await rig.post('track', track({ distinctId, consent }), { 'sec-gpc': value });
  const found = (await rig.log.envelopes()).find((envelope) => envelope.id === distinctId);
  expect(found?.gpc).toBe(expected);
  expect(found?.body['consent']).toEqual(consent);
});

test('stored: a request with a wrong method is a 405, and its Allow header names the right method', async () => {
  const answer = await fetch(`${rig.gateway.url}/api/v1/track`);
  expect(answer.status).toBe(405);
  expect(answer.headers.get('allow')).toBe('POST, OPTIONS');
});

test('stored: lastTriggeredAt of a source is stored after its event', async () => {
  const before = Date.now();
  await rig.post('track', track({ token: testSources.web.token }));
  const lastTriggeredAt = async (): Promise<number> => Math.max(0, ...(await rig.log.lastTriggeredAt('web')));
  await expect.poll(lastTriggeredAt, { timeout: 45_000 }).toBeGreaterThanOrEqual(before);
});

test('configuration: a source accepts events once published, but not while it is disabled or after it is removed', async () => {
  const added = {
    token: 'src_live_added_0123456789',
    entity: { id: 'added', name: 'added', type: 'NodejsApi', status: 'Enabled' },
  };
  const status = async (): Promise<number> => (await rig.post('track', track({ token: added.token }))).status;
  expect(await status()).toBe(401);
  await rig.log.publishSources([...allTestSources, added]);
  await expect.poll(status).toBe(200);
  await rig.log.publishSources([...allTestSources, { ...added, entity: { ...added.entity, status: 'Disabled' } }]);
  await expect.poll(status).toBe(401);
  await rig.log.publishSources([...allTestSources, added]);
  await expect.poll(status).toBe(200);
  await rig.log.publishSources(allTestSources);
  await expect.poll(status).toBe(401);
});

const basic = { authorization: `Basic ${btoa(`${token}:`)}` };
const ways: readonly [name: string, path: string, headers: Record<string, string>, body: (n: number) => object][] = [
  [
    'identify',
    '/api/v1/identify',
    {},
    (n) => ({ token, userProperties: { email: 'ann@example.com', plan: `plan-${n}` } }),
  ],
  [
    'a placeholder for a userId',
    '/api/v1/track',
    {},
    (n) => ({ token, event: 'E', distinctId: `placeholder-${n}`, userId: 'undefined', email: 'Ann@Example.com' }),
  ],
  [
    'a row of a batch',
    '/api/v1/batch',
    {},
    (n) => ({
      token,
      events: [
        { event: 'E', distinctId: `row-${n}`, userProperties: { email: ' ANN@example.com' } },
        { event: 'E', distinctId: `plain-row-${n}`, userId: '[object Object]', email: 'ann@example.com' },
      ],
    }),
  ],
  [
    'identify of another library',
    '/v1/identify',
    basic,
    (n) => ({ anonymousId: 'null', traits: { email: 'ann@example.com' }, messageId: `spec-${n}` }),
  ],
  [
    'a batch of another library',
    '/v1/batch',
    basic,
    (n) => ({
      batch: [{ type: 'identify', userId: '0', traits: { email: 'ann@example.com' }, messageId: `specs-${n}` }],
    }),
  ],
  [
    'a capture',
    '/capture',
    {},
    (n) => ({ api_key: token, event: 'E', uuid: `cap-${n}`, distinct_id: 'None', $set: { email: 'ann@example.com' } }),
  ],
  ['a webhook', `/webhook/${testSources.hook.token}?userId=unknown&email=ann@example.com`, {}, (n) => ({ note: n })],
];

test('stored: a visitor named only in userProperties, or next to a placeholder id, has the same partition on every route', async () => {
  await rig.log.connection[client].jsm.streams.purge(streams.ingest);
  for (const [name, path, headers, body] of ways) {
    for (let n = 0; n < 4; n += 1) {
      const answer = await fetch(`${rig.gateway.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body(n)),
      });
      expect([name, answer.status]).toEqual([name, 200]);
    }
  }
  const { state } = await rig.log.connection[client].jsm.streams.info(streams.ingest, { subjects_filter: 'ingest.*' });
  expect(Object.keys(state.subjects ?? {})).toHaveLength(1);
  expect(await rig.log.envelopes()).toHaveLength(4 * (ways.length + 1));
});
