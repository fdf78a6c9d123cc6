import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nested, text, token } from '../../testing/contract-row.ts';
import { startRouteRig } from '../../testing/route-rig.ts';
import type { RouteRig } from '../../testing/route-rig.ts';
import { testSources } from '../../testing/test-sources.ts';

let rig: RouteRig;
beforeAll(async () => {
  rig = await startRouteRig();
});
afterAll(() => rig.stop());

test('batch: if every row is stored, the answer is 200 with results in order', async () => {
  const events = Array.from({ length: 20 }, (_, i) => ({ event: 'Row', distinctId: `row-${i}`, userId: `user-${i}` }));
  const answer = await rig.post('batch', { token, events });
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    success: true,
    accepted: 20,
    failed: 0,
    results: events.map((_, index) => ({ index, success: true })),
  });
  const ids = (await rig.log.envelopes()).map((envelope) => envelope.id);
  for (const { distinctId } of events) expect(ids).toContain(distinctId);
});

test('batch: if only some rows are valid, the answer is 207, and each failed row says why', async () => {
  const row = (fields: object): object => ({ event: 'Row', distinctId: 'mixed', ...fields });
  const events = [
    row({ distinctId: 'mixed-0' }),
    { event: 'Row' },
    row({ event: 5 }),
    'no object',
    null,
    row({ time: 5 }),
    row({ eventProperties: { filler: text(65_536) } }),
    row({ distinctId: 'mixed-7', token }),
    row({ eventProperties: { deep: JSON.parse(nested(64)) as unknown } }),
    row({ event: 'a\u0000' }),
  ];
  const answer = await rig.post('batch', { token, events });
  expect(answer.status).toBe(207);
  const results = answer.body['results'] as { index: number; success: boolean; code?: string; message?: string }[];
  expect(answer.body).toMatchObject({ success: false, accepted: 2, failed: 8 });
  expect(results.map((result) => result.index)).toEqual(events.map((_, index) => index));
  expect(results.map((result) => result.success)).toEqual([
    true,
    false,
    false,
    false,
    false,
    false,
    false,
    true,
    false,
    false,
  ]);
  for (const result of results) if (!result.success) expect(result.code).toBe('invalid_event');
  const messages = results.map((result) => result.message ?? '');
  expect(messages[1]).toMatch(/distinctId/);
  expect(messages[2]).toMatch(/event/);
  expect(messages[3]).toMatch(/object/);
  expect(messages[5]).toMatch(/time/);
  expect(messages[6]).toMatch(/65536 bytes/);
  expect(messages[8]).toBe('eventProperties nests deeper than 64 levels');
  const seventh = (await rig.log.envelopes()).find((envelope) => envelope.id === 'mixed-7');
  expect(seventh?.body['token']).toBe('*'.repeat(token.length));
});

test('batch: rows that are not UTF-8 or contain a key for a prototype fail without affecting other rows', async () => {
  const body = Buffer.concat([
    Buffer.from(`{"token":"${token}","events":[{"event":"a","distinctId":"u-0"},{"event":"`),
    Buffer.from([0xc3, 0x28]),
    Buffer.from(
      `","distinctId":"u-1"},{"event":"a","distinctId":"u-2","__proto__":{"x":1}},{"event":"é","distinctId":"u-3"}]}`,
    ),
  ]);
  const answer = await rig.post('batch', body);
  expect(answer.status).toBe(207);
  const results = answer.body['results'] as { success: boolean }[];
  expect(results.map((result) => result.success)).toEqual([true, false, false, true]);
});

test('batch: if no row is valid, the answer is 400 and says not to retry', async () => {
  const answer = await rig.post('batch', { token, events: [{ event: 'a' }, 5] });
  expect(answer.status).toBe(400);
  expect(answer.body).toMatchObject({ success: false, retryable: false, error: expect.any(String) as string });
  expect(answer.body['results']).toHaveLength(2);
});

test('batch: an empty batch is a success with no results', async () => {
  expect((await rig.post('batch', { token, events: [] })).body).toEqual({
    success: true,
    accepted: 0,
    failed: 0,
    results: [],
  });
});

test.each([
  { name: 'no events', body: { token }, error: /events/ },
  { name: 'events not an array', body: { token, events: {} }, error: /events/ },
  {
    name: 'defaultProperties of the wrong type',
    body: { token, events: [], defaultProperties: 1 },
    error: /defaultProperties/,
  },
  { name: 'events twice', body: `{"token":"${token}","events":[],"events":[]}`, error: /twice/ },
])('batch: a body with $name gets a 400', async ({ body, error }) => {
  const answer = await rig.post('batch', body);
  expect(answer.status).toBe(400);
  expect(answer.body['error']).toMatch(error);
});

const refusals = [
  { name: 'an unknown key', fields: { token: 'nobody' }, headers: {}, status: 401 },
  { name: 'the key of a disabled source', fields: { token: testSources.disabled.token }, headers: {}, status: 401 },
  {
    name: 'a page that is not listed',
    fields: { token: testSources.domains.token },
    headers: { origin: 'https://other.test' },
    status: 403,
  },
  { name: 'an address that is not listed', fields: { token: testSources.addresses.token }, headers: {}, status: 403 },
  { name: 'a form', fields: {}, headers: { 'content-type': 'application/x-www-form-urlencoded' }, status: 415 },
];

test.each(refusals)(
  'batch: $name is $status, with an error and without results',
  async ({ fields, headers, status }) => {
    const events = [{ event: 'a', distinctId: 'refused' }];
    const answer = await rig.post('batch', { token, events, ...fields }, headers);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ success: false, error: expect.any(String) as string });
  },
);

test('batch: the id of each row is required', async () => {
  const events = [{ event: 'a', distinctId: null }, { event: 'a' }, { event: 'a', distinctId: 'row-with-id' }];
  const answer = await rig.post('batch', { token, events });
  expect(answer).toMatchObject({ status: 207, body: { accepted: 1, failed: 2 } });
  expect(answer.body['results']).toMatchObject([
    { index: 0, success: false, code: 'invalid_event', message: expect.stringMatching(/distinctId/) as string },
    { index: 1, success: false, code: 'invalid_event', message: expect.stringMatching(/distinctId/) as string },
    { index: 2, success: true },
  ]);
});

test('batch: a batch with too many rows gets 413 with the limit in rows', async () => {
  const events = Array.from({ length: 1001 }, (_, i) => ({ event: 'a', distinctId: String(i) }));
  const answer = await rig.post('batch', { token, events });
  expect(answer.status).toBe(413);
  expect(answer.body).toMatchObject({ success: false, limit: 1000, error: expect.any(String) as string });
});

test('batch: a batch with too many bytes gets 413 with the limit in bytes', async () => {
  const answer = await rig.post('batch', { token, events: [], filler: text(5 * 1024 ** 2) });
  expect(answer.status).toBe(413);
  expect(answer.body).toMatchObject({ success: false, limit: 5 * 1024 ** 2 });
});

test('batch: fields that apply to all rows are stored with each row', async () => {
  const events = [{ event: 'a', distinctId: 'ctx-1' }];
  const fields = {
    defaultProperties: { os_name: 'Linux' },
    identityContext: { ip: '192.0.2.1' },
    custom_properties: { a: 1 },
  };
  await rig.post('batch', { token, events, ...fields });
  expect((await rig.log.envelopes()).find((envelope) => envelope.id === 'ctx-1')?.ctx).toEqual(fields);
});

test('batch: the bot score of a row takes each property from the row, or else from the batch', async () => {
  const browser = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
  const crawler = 'Googlebot/2.1 (+http://www.google.com/bot.html)';
  const scores = async (name: string, fields: object, rows: readonly object[]): Promise<unknown[]> => {
    const events = rows.map((row, index) => ({ event: 'a', distinctId: `${name}-${index}`, ...row }));
    const answer = await rig.post(
      'batch',
      { token: testSources.bots.token, events, ...fields },
      { 'user-agent': browser },
    );
    expect(answer.status).toBe(200);
    const bots = new Map((await rig.log.envelopes()).map(({ id, bot }) => [id, bot]));
    return events.map(({ distinctId }) => bots.get(distinctId));
  };
  const said = [
    {},
    { defaultProperties: { sid: '1' } },
    { defaultProperties: { is_bot: false } },
    { defaultProperties: { bot_score: 7 } },
  ];
  expect(await scores('said', { defaultProperties: { is_bot: true } }, said)).toEqual([100, 100, 0, 7]);
  const named = [{}, { defaultProperties: { sid: '1' } }, { defaultProperties: { user_agent: crawler } }];
  expect(await scores('context', { defaultProperties: { user_agent: crawler } }, named)).toEqual([100, 100, 100]);
  const network = [{}, { identityContext: { ip: '192.0.2.1' } }, { identityContext: { userAgent: '' } }];
  expect(await scores('network', { identityContext: { userAgent: crawler } }, network)).toEqual([100, 100, 100]);
});

test('batch: gzip is read', async () => {
  const zipped = gzipSync(JSON.stringify({ token, events: [{ event: 'a', distinctId: 'zipped' }] }));
  expect((await rig.post('batch', zipped, { 'content-encoding': 'gzip' })).status).toBe(200);
  expect((await rig.log.envelopes()).map((envelope) => envelope.id)).toContain('zipped');
});

test.each([
  { name: 'that is none', body: Buffer.from('plain'), status: 400 },
  { name: 'cut short', body: gzipSync('{"token":"a","events":[]}').subarray(0, 20), status: 400 },
  { name: 'that unpacks beyond the limit', body: gzipSync(Buffer.alloc(6 * 1024 ** 2, 0x20)), status: 413 },
  { name: 'that unpacks to a thousand times its size', body: gzipSync(Buffer.alloc(4 * 1024 ** 2, 0x20)), status: 413 },
])('batch: gzip $name gets a $status', async ({ body, status }) => {
  expect((await rig.post('batch', body, { 'content-encoding': 'gzip' })).status).toBe(status);
});
