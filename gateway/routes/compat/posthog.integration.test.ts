import vm from 'node:vm';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Envelope } from '../../../shared/contracts/events/envelope.ts';
import { startRouteRig } from '../../testing/route-rig.ts';
import type { RouteRig } from '../../testing/route-rig.ts';
import { testSources } from '../../testing/test-sources.ts';
import { capturedPostHogRequests } from './testing/captured-request.ts';

let rig: RouteRig;
beforeAll(async () => {
  rig = await startRouteRig();
});
afterAll(() => rig.stop());

const key = testSources.web.token;
const page = 'https://shop.example';

type Message = {
  readonly event: string;
  readonly uuid?: string;
  readonly timestamp?: string;
  readonly offset?: number;
  readonly properties: Readonly<Record<string, unknown>>;
};
type Body = Message | readonly Message[] | { readonly batch: readonly Message[]; readonly sent_at: string };

const send = (path: string, body: Uint8Array | string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${rig.gateway.url}${path}`, {
    method: 'POST',
    headers: { origin: page, ...headers },
    body: new Uint8Array(Buffer.from(body)),
  });

const eventNames: Readonly<Record<string, string>> = {
  $pageview: 'Page Viewed',
  $groupidentify: '$group',
  $create_alias: '$alias',
};

const captured = capturedPostHogRequests(key);
const isEvents = (path: string): boolean => path.startsWith('/e/');

test.each(
  captured.filter(({ path }) => isEvents(path)).map((request) => [request.version, request.call, request] as const),
)('posthog-js %s: %s: every event is stored, when it happened and as whose', async (_version, _call, request) => {
  const before = (await rig.log.envelopes()).length;
  const answer = await send(request.path, request.payload, request.headers);
  expect(answer.status).toBe(200);
  // A page that sends cookies can read an answer only if the answer names the page's origin.
  expect(answer.headers.get('access-control-allow-origin')).toBe(page);
  expect(answer.headers.get('access-control-allow-credentials')).toBe('true');
  const stored = (await rig.log.envelopes()).slice(before);
  const body = JSON.parse(request.text) as Body;
  const messages =
    'batch' in body ? body.batch : Array.isArray(body) ? (body as readonly Message[]) : [body as Message];
  const names = stored.map(({ kind, body: event }) => (kind === 'identify' ? '$identify' : String(event['event'])));
  expect(names.toSorted()).toEqual(messages.map(({ event }) => eventNames[event] ?? event).toSorted());
  const queriedAt = /[?&]_=(\d+)/.exec(request.path)?.[1];
  const sentMs = 'batch' in body ? Date.parse(body.sent_at) : Number(queriedAt);
  for (const message of messages) {
    const event = stored.find(({ id }) => id === (message.uuid ?? message.properties['$insert_id']));
    if (event === undefined) throw new Error(`${message.event} is not stored`);
    expectTime(event, message, sentMs);
    const { distinct_id: distinctId, $device_id: deviceId } = message.properties;
    const isKnown = distinctId !== deviceId && message.event !== '$create_alias';
    if (isKnown) expect(event.body).toMatchObject({ userId: deviceId, externalId: distinctId });
    if (distinctId === deviceId) {
      expect(event.body).toMatchObject({ userId: distinctId });
      expect(event.body['externalId']).toBeUndefined();
    }
  }
  expect(await rig.log.rawFrames()).not.toContain(key);
});

function expectTime({ at, body }: Envelope, { timestamp, offset }: Message, sentMs: number): void {
  if (timestamp !== undefined) expect(body['time']).toBe(Date.parse(timestamp) + at - sentMs);
  else expect(body['time']).toBe(offset === undefined ? undefined : at - offset);
}

test.each(
  captured.filter(({ path }) => !isEvents(path)).map((request) => [request.version, request.call, request] as const),
)(
  'posthog-js %s: %s: there are none, in the form of its version',
  async (_version, _call, { path, payload, headers }) => {
    const answer = await send(path, payload, headers);
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, page]);
    const said = (await answer.json()) as object;
    expect(said).toMatchObject({ featureFlags: {} });
    if (path.startsWith('/decide') || path.includes('config=true')) {
      expect(said).toMatchObject({ supportedCompression: ['gzip', 'gzip-js'], sessionRecording: false });
    }
  },
);

const none = { featureFlags: {}, featureFlagPayloads: {}, errorsWhileComputingFlags: false };
test.each([
  ['/decide', { featureFlags: [] }, ['flags']],
  ['/decide/?v=1', { featureFlags: [] }, ['flags']],
  ['/decide/?v=2', { featureFlags: {} }, ['flags']],
  ['/decide/?v=3', none, ['flags']],
  ['/decide/?v=4', { ...none, flags: {} }, []],
  ['/flags/?v=1', none, ['flags', 'supportedCompression']],
  ['/flags/?v=2', { ...none, flags: {} }, ['supportedCompression']],
  ['/flags/?v=2&config=true', { ...none, flags: {}, supportedCompression: ['gzip', 'gzip-js'] }, []],
  ['/flags?v=4', { ...none, flags: {} }, []],
])('posthog: %s is answered in the form of its version', async (path, expected, absent) => {
  const asked = { distinct_id: 'u-28', groups: {}, person_properties: {} };
  for (const body of [
    { api_key: key, ...asked },
    { token: testSources.server.token, ...asked },
  ]) {
    const answer = await send(path, JSON.stringify(body), { 'content-type': 'application/json; charset=utf-8' });
    const said = (await answer.json()) as object;
    expect([answer.status, said]).toEqual([200, expect.objectContaining(expected)]);
    for (const name of absent) expect(said).not.toHaveProperty(name);
  }
  expect((await send(path, gzipSync(JSON.stringify({ api_key: key })))).status).toBe(200);
  const unknown = await send(path, JSON.stringify({ api_key: 'nobody', ...asked }));
  expect([unknown.status, await unknown.json()]).toEqual([401, expect.objectContaining({ code: 'unauthorized' })]);
  expect((await send(path, '{')).status).toBe(400);
});

test('posthog: the configuration says what is served, as JSON and as a script of the page', async () => {
  const ask = (path: string) => fetch(`${rig.gateway.url}${path}`, { headers: { origin: page } });
  const config = await ask(`/array/${key}/config`);
  const said = await config.json();
  expect(said).toMatchObject({ token: key, supportedCompression: ['gzip', 'gzip-js'] });
  // If `surveys` is present, whatever its value, the library loads a script for surveys.
  expect(said).not.toHaveProperty('surveys');
  const script = await ask(`/array/${key}/config.js`);
  expect(script.headers.get('content-type')).toContain('text/javascript');
  expect(script.headers.get('access-control-allow-origin')).toBe(page);
  const window: Record<string, unknown> = {};
  vm.runInNewContext(await script.text(), { window });
  expect(window).toEqual({ _POSTHOG_REMOTE_CONFIG: { [key]: { config: said, siteApps: [] } } });
  for (const path of ['/array/unknown/config', '/array/unknown/config.js', '/array/%3Cscript%3E/config.js']) {
    expect((await ask(path)).status).toBe(401);
  }
});

test.each([
  ['/api/surveys/?token=x', { surveys: [] }],
  ['/api/early_access_features/?token=x', { earlyAccessFeatures: [] }],
  ['/api/web_experiments/?token=x', { experiments: [] }],
  ['/api/product_tours/?token=x', { product_tours: [] }],
  ['/api/feature_flag/local_evaluation?token=x', { flags: [], group_type_mapping: {}, cohorts: {} }],
  ['/flags/definitions?token=x&send_cohorts', { flags: [], group_type_mapping: {}, cohorts: {} }],
  ['/api/projects/@current/feature_flags/a%20flag/remote_config?token=x', null],
])('posthog: %s gets an empty answer', async (path, expected) => {
  expect(await (await fetch(`${rig.gateway.url}${path}`)).json()).toEqual(expected);
});

test.each(['/s/', '/i/v1/logs', '/i/v1/metrics'])(
  'posthog: a request to %s is read and answered, but its events are not stored',
  async (path) => {
    const before = (await rig.log.envelopes()).length;
    const recording = { event: '$snapshot', properties: { token: key, $snapshot_data: 'x'.repeat(3_000_000) } };
    for (const body of [JSON.stringify(recording), gzipSync(JSON.stringify([recording])), '']) {
      const answer = await send(`${path}?compression=gzip-js`, body, { 'content-type': 'text/plain' });
      expect([answer.status, await answer.json()]).toEqual([200, { success: true }]);
    }
    expect(await rig.log.envelopes()).toHaveLength(before);
  },
);

test.each([
  ['a list of nothing', '[]', 401],
  ['a list that holds no events', `[1,{"properties":{"token":"${key}"}}]`, 400],
  ['events of two keys', `[{"event":"a","token":"${key}"},{"event":"b","token":"${testSources.server.token}"}]`, 401],
  ['a form without data', 'token=a&other=b', 400],
  ['a form with what is no JSON', 'data=bm90IEpTT04%3D', 400],
  ['a form with broken gzip', `data=${encodeURIComponent(Buffer.from([0x1f, 0x8b, 1, 2]).toString('base64'))}`, 400],
])('posthog: %s is refused', async (_name, body, status) => {
  const before = (await rig.log.envelopes()).length;
  const answer = await send('/e/', body, { 'content-type': 'application/x-www-form-urlencoded' });
  expect(answer.status).toBe(status);
  expect(await answer.json()).toMatchObject({ success: false });
  expect(await rig.log.envelopes()).toHaveLength(before);
});

test('posthog: a form may hold plain JSON, base64, or gzip in base64; members of a list that are no events are left out', async () => {
  const event = (uuid: string) => ({ event: 'Packed', uuid, properties: { token: key, distinct_id: 'packed' } });
  const list = (uuid: string) => JSON.stringify([event(uuid), { event: '', properties: { token: key } }]);
  const forms = [
    `data=${encodeURIComponent(list('packed-1'))}`,
    `data=${encodeURIComponent(gzipSync(list('packed-2')).toString('base64'))}&compression=gzip`,
    `ip=1&data=${encodeURIComponent(Buffer.from(list('packed-3')).toString('base64'))}`,
  ];
  for (const form of forms) expect((await send('/capture/', form)).status).toBe(200);
  const stored = (await rig.log.envelopes()).filter(({ body }) => body['event'] === 'Packed').map(({ id }) => id);
  expect(stored).toEqual(['packed-1', 'packed-2', 'packed-3']);
});
