import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSecretBox, signingSecretContext } from '../../shared/contracts/config/secrets.ts';
import type { Envelope } from '../../shared/contracts/events/envelope.ts';
import { sourceKinds } from '../../shared/sources/registry.ts';
import { providerExamples } from '../../shared/sources/testing/examples.ts';
import { signers } from '../../shared/sources/testing/sign.ts';
import { startTestNats } from '../../shared/testing/servers.ts';
import { nestedMixed } from '../testing/contract-row.ts';
import { startGatewayHere } from '../testing/gateway-here.ts';
import type { GatewayUnderTest } from '../testing/gateway-here.ts';
import { openTestLog, testAccountId } from '../testing/test-log.ts';
import type { TestLog, TestSource } from '../testing/test-log.ts';
import { providerSource, testSources } from '../testing/test-sources.ts';

const secretsKey = randomBytes(32).toString('base64');
const secret = 'signing secret of a provider';
const box = createSecretBox(secretsKey);

const plain = new Map(sourceKinds.map(({ type }) => [type, providerSource(type)]));
const signed = new Map(
  sourceKinds.flatMap(({ type, signature }): [string, TestSource][] =>
    signature === undefined
      ? []
      : [[type, providerSource(type, box.seal(secret, signingSecretContext(testAccountId, `${type}-signed`)))]],
  ),
);
/** A source whose secret was sealed with a key that the gateway does not have. */
const unopened = {
  ...providerSource('TypeformWebhooks', createSecretBox(randomBytes(32).toString('base64')).seal(secret, 'x')),
  token: 'src_live_unopened_0123456789',
  testToken: 'src_test_unopened_0123456789',
};
const unopenedSource = { ...unopened, entity: { ...unopened.entity, id: 'unopened' } };

let stopNats: () => Promise<void>;
let log: TestLog;
let gateway: GatewayUnderTest;

beforeAll(async () => {
  const nats = await startTestNats();
  stopNats = () => nats.stop();
  log = await openTestLog(nats.url);
  await log.publishSources([...plain.values(), ...signed.values(), unopenedSource, testSources.hook]);
  gateway = await startGatewayHere(nats.url, { SOURCE_SECRETS_KEY: secretsKey, BATCH_ROWS_MAX: '50' });
});
afterAll(async () => {
  await gateway.stop();
  await log.close();
  await stopNats();
});

type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

const tokenOf = (sources: ReadonlyMap<string, TestSource>, type: string): string => sources.get(type)?.token ?? '';
const addressOf = (token: string, query = ''): string => `${gateway.url}/webhook/${token}${query}`;

async function post(
  address: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const answer = await fetch(address, {
    method: 'POST',
    body: typeof body === 'string' ? body : new Uint8Array(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
  return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> };
}

/** The stored events of a source, newest last within a partition. */
async function storedBy(type: string, suffix = ''): Promise<Envelope[]> {
  return (await log.envelopes()).filter(({ source }) => source === `${type}${suffix}`);
}

/** Some providers send the time of an event, which has to be recent. */
const examples = () => providerExamples(Date.now());

test.each(providerExamples(0).map(({ type, name }, index) => ({ type, name, index })))(
  'webhook: $type, $name, is stored with what it says',
  async ({ type, index }) => {
    const { contentType, body, events } = examples()[index] ?? expect.unreachable();
    const before = new Set((await storedBy(type)).map(({ id }) => id));
    const headers = contentType === undefined ? {} : { 'content-type': contentType };
    expect(await post(addressOf(tokenOf(plain, type)), body, headers)).toEqual({
      status: 200,
      body: { success: true },
    });
    const stored = (await storedBy(type)).filter(({ id }) => !before.has(id));
    expect(stored).toHaveLength(events.length);
    for (const expected of events) {
      const {
        kind = 'track',
        name = type,
        id,
        time,
        traits,
        context,
        ip,
        userAgent,
        properties,
        ...identity
      } = expected;
      const found = stored.find(
        (envelope) => id === undefined || (typeof id === 'string' ? envelope.id === id : id.test(envelope.id)),
      );
      expect(found?.kind).toBe(kind);
      expect(found?.body).toMatchObject({
        ...(kind === 'track' ? { event: name, eventProperties: properties ?? {} } : {}),
        ...(time === undefined ? {} : { time: Date.parse(time) }),
        ...(traits === undefined ? {} : { userProperties: traits }),
        ...(context === undefined ? {} : { defaultProperties: context }),
        ...(ip === undefined ? {} : { identityContext: { ip } }),
        ...(userAgent === undefined ? {} : { identityContext: { userAgent } }),
        ...identity,
      });
      expect(found?.body['defaultProperties']).not.toHaveProperty('original_time');
    }
  },
);

test('webhook: a secret in a form is not stored in the log', async () => {
  expect(await log.rawFrames()).not.toContain('not-for-the-log');
});

const jotform = providerExamples(0).find(({ type }) => type === 'JotFormWebhooks');
const json = 'application/json';
test.each([
  [
    'a field of a form',
    'JotFormWebhooks',
    jotform?.contentType ?? '',
    (key: string) => jotform?.body.replace('…', key),
  ],
  ['a JSON field', 'Heyflow', json, (key: string) => JSON.stringify({ id: 'k', fields: { Page: `/webhook/${key}` } })],
  ['an object for a generic source', 'hook', json, (key: string) => JSON.stringify({ url: `/webhook/${key}`, key })],
  ['an array for a generic source', 'hook', json, (key: string) => JSON.stringify([{ [key]: [key] }, { url: key }])],
  ['a form for a generic source', 'hook', 'application/x-www-form-urlencoded', (key: string) => `url=/webhook/${key}`],
])('webhook: the source key is masked where the body repeats it: %s', async (_name, type, contentType, bodyWith) => {
  const key = type === 'hook' ? testSources.hook.token : tokenOf(plain, type);
  const before = (await storedBy(type)).length;
  const answer = await post(addressOf(key, `?page=/webhook/${key}`), bodyWith(key) ?? '', {
    'content-type': contentType,
  });
  expect(answer.status).toBe(200);
  expect((await storedBy(type)).length).toBeGreaterThan(before);
  expect(await log.rawFrames()).not.toContain(key);
});

test('webhook: a form whose event would be larger than a body may be is 413', async () => {
  const form = `a=${'\u0001'.repeat(300_000)}`;
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  expect((await post(addressOf(testSources.hook.token), form, headers)).status).toBe(413);
});

test.each([...signed.keys()])(
  'webhook: %s, with a secret, accepts what its provider signed and nothing else',
  async (type) => {
    const example = examples().find((one) => one.type === type);
    const body = example?.body ?? '';
    const typed: Record<string, string> =
      example?.contentType === undefined ? {} : { 'content-type': example.contentType };
    const address = addressOf(tokenOf(signed, type));
    // The address that the provider calls begins with https, although TLS ends in front of this gateway.
    const url = address.replace('http:', 'https:');
    const headers = signers[type]?.({ secret, body, url, nowMs: Date.now() }) ?? {};
    expect((await post(address, body, { ...typed, ...headers })).status).toBe(200);
    const unsigned = await post(address, body, typed);
    expect([unsigned.status, unsigned.body['error']]).toEqual([401, expect.stringContaining('not signed')]);
    const forged = signers[type]?.({ secret: 'guessed', body, url, nowMs: Date.now() }) ?? {};
    const wrong = await post(address, body, { ...typed, ...forged });
    expect([wrong.status, wrong.body['error']]).toEqual([401, expect.stringContaining('signature is wrong')]);
    // White space that JSON ignores is part of the signed text.
    expect((await post(address, `${body}\n`, { ...typed, ...headers })).status).toBe(401);
    expect(await storedBy(type, '-signed')).toHaveLength(example?.events.length ?? 0);
  },
);

test('webhook: a request with a signature from an hour ago is 401', async () => {
  const body = '{"event":"invitee.created"}';
  const address = addressOf(tokenOf(signed, 'CalendlyWebhook'));
  const old = signers['CalendlyWebhook']?.({ secret, body, url: address, nowMs: Date.now() - 3_600_000 }) ?? {};
  expect(await post(address, body, old)).toMatchObject({
    status: 401,
    body: { error: expect.stringContaining('too old or too new') },
  });
});

test('webhook: a source that requires signatures accepts no events through other routes', async () => {
  const token = tokenOf(signed, 'TypeformWebhooks');
  for (const [path, body] of [
    ['track', { token, event: 'Forged' }],
    ['identify', { token, userProperties: {} }],
    ['batch', { token, events: [{ event: 'Forged', distinctId: 'forged-1' }] }],
  ] as const) {
    expect((await post(`${gateway.url}/api/v1/${path}`, JSON.stringify(body))).status).toBe(403);
  }
  expect((await fetch(`${gateway.url}/pixel/${token}.gif?event=Forged`)).status).toBe(403);
});

test('webhook: a source whose secret cannot be decrypted answers a webhook with 503 and a track request with 403', async () => {
  const answer = await post(addressOf(unopenedSource.token), '{}');
  expect(answer).toMatchObject({ status: 503, body: { success: false } });
  expect(
    (await post(`${gateway.url}/api/v1/track`, JSON.stringify({ token: unopenedSource.token, event: 'a' }))).status,
  ).toBe(403);
});

test('webhook: a field in the query of the address overrides the same field in the body', async () => {
  const body = JSON.stringify({
    id: 'addressed',
    createdAt: new Date().toISOString(),
    fields: { email: 'body@example.com', 'First name': 'B' },
  });
  const query = '?event=Quiz+done&externalId=crm-7&utm_source=partner&distinctId=addressed-1';
  expect((await post(addressOf(tokenOf(plain, 'Heyflow'), query), body)).status).toBe(200);
  const found = (await storedBy('Heyflow')).find(({ id }) => id === 'addressed-1');
  expect(found?.body).toMatchObject({
    event: 'Quiz done',
    externalId: 'crm-7',
    email: 'body@example.com',
    userProperties: { first_name: 'B' },
    defaultProperties: { utm_source: 'partner' },
  });
});

test('webhook: a time outside the window is kept as original_time, and the event gets its time of arrival', async () => {
  const send = (id: string, createdAt: unknown) =>
    post(addressOf(tokenOf(plain, 'Heyflow')), JSON.stringify({ id, createdAt, fields: {} }));
  expect((await send('of-long-ago', '2020-09-09T15:29:41.706Z')).status).toBe(200);
  expect((await send('of-no-calendar', 9e15)).status).toBe(200);
  expect((await send('of-no-time', { a: 1 })).status).toBe(200);
  const bodies = new Map((await storedBy('Heyflow')).map(({ id, body }) => [id, body]));
  expect(bodies.get('heyflow:of-long-ago')).toMatchObject({
    defaultProperties: { original_time: '2020-09-09T15:29:41.706Z' },
  });
  for (const id of ['of-long-ago', 'of-no-calendar', 'of-no-time']) {
    expect(bodies.get(`heyflow:${id}`)).toBeDefined();
    expect(bodies.get(`heyflow:${id}`)).not.toHaveProperty('time');
  }
});

test('webhook: visitor input that a provider cannot correct is accepted', async () => {
  const long = 'x'.repeat(5_000);
  const body = `{"id":"odd","fields":{"E-mail":"${long}@example.com","First name":"${long}","Last name":"a\\u0000b\\ud83d","Note":"\\\\u0000","City":7}}`;
  expect((await post(addressOf(tokenOf(plain, 'Heyflow')), body)).status).toBe(200);
  const found = (await storedBy('Heyflow')).find(({ id }) => id === 'heyflow:odd');
  expect(found?.body).toMatchObject({
    userProperties: { last_name: 'a\ufffdb\ufffd', city: '7' },
    eventProperties: { fields: { Note: '\\u0000', 'First name': long } },
  });
  expect(found?.body).not.toHaveProperty('email');
  expect(found?.body['userProperties']).not.toHaveProperty('first_name');
  const raw =
    '--b\r\nContent-Disposition: form-data; name="rawRequest"\r\n\r\n{"q1_email":"a@b.test","q2_note":"\\u0000"}\r\n--b--\r\n';
  const multipart = { 'content-type': 'multipart/form-data; boundary=b' };
  expect((await post(addressOf(tokenOf(plain, 'JotFormWebhooks')), raw, multipart)).status).toBe(200);
  const form = `UniqueID=odd&Email=a%00%40example.com&Note=%00`;
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  expect((await post(addressOf(tokenOf(plain, 'Formstack')), form, headers)).status).toBe(200);
});

test.each([
  ['application/json', 'no charset', 'M\ufffdnchen'],
  ['application/json; charset=ISO-8859-1', 'their charset', 'M\u00fcnchen'],
  ['application/json; charset=made-up', 'an unknown charset', 'M\ufffdnchen'],
])('webhook: bytes that are not UTF-8, %s (%s): the event is stored', async (type, name, city) => {
  const latin1 = (id: string): string => `{"id":"${name} ${id}","fields":{"City":"M\u00fcnchen"}}`;
  const list = `[${latin1('first')},${latin1('second')}]`;
  const address = addressOf(tokenOf(plain, 'Heyflow'));
  for (const body of [latin1('alone'), list]) {
    expect((await post(address, Buffer.from(body, 'latin1'), { 'content-type': type })).status).toBe(200);
  }
  const found = (await storedBy('Heyflow')).filter(({ id }) => id.startsWith(`heyflow:${name} `));
  expect(found.map(({ body }) => body['userProperties'])).toEqual(
    Array.from({ length: found.length }, () => ({ city })),
  );
  expect(found.length).toBe(3);
});

test('webhook: bodies may be compressed, up to a limit', async () => {
  const address = addressOf(tokenOf(plain, 'Heyflow'));
  const headers = { 'content-encoding': 'gzip' };
  expect((await post(address, gzipSync('{"id":"zipped","fields":{"email":"zip@example.com"}}'), headers)).status).toBe(
    200,
  );
  expect((await storedBy('Heyflow')).find(({ id }) => id === 'heyflow:zipped')?.body['email']).toBe('zip@example.com');
  expect((await post(address, gzipSync(`{"a":"${'x'.repeat(3 * 1024 ** 2)}"}`), headers)).status).toBe(413);
  expect((await post(address, '{"id":1}', headers)).status).toBe(400);
  expect((await post(address, '{}', { 'content-encoding': 'br' })).status).toBe(415);
});

const hubspotEvents = (count: number): string =>
  JSON.stringify(
    Array.from({ length: count }, (_, index) => ({ eventId: `many-${index}`, subscriptionType: 'contact.creation' })),
  );

test('webhook: each member of an array is an event with its own id, up to a limit', async () => {
  const address = addressOf(tokenOf(plain, 'HubspotFormWebhook'), '?distinctId=of-address');
  expect((await post(address, hubspotEvents(50))).status).toBe(200);
  const ids = (await storedBy('HubspotFormWebhook')).map(({ id }) => id).filter((id) => id.startsWith('of-address'));
  expect(new Set(ids).size).toBe(50);
  const tooMany = await post(address, hubspotEvents(51));
  expect(tooMany).toMatchObject({ status: 413, body: { limit: 50 } });
  expect((await post(address, hubspotEvents(10_000))).status).toBe(413);
  expect((await post(address, '[]')).status).toBe(200);
});

test.each([
  ['nothing', '', 400, /JSON/],
  ['a text', '"a"', 400, /object or an array/],
  ['JSON that is cut', '[{"a":1}', 400, /JSON/],
  ['64 levels', `{"a":${nestedMixed(63)}}`, 200, undefined],
  ['65 levels', `[${nestedMixed(64)}]`, 400, /64 levels/],
  ['100,000 levels', '['.repeat(100_000), 400, /64 levels/],
  [
    '10,001 keys',
    JSON.stringify(Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`k${i}`, 1]))),
    400,
    /keys/,
  ],
  ['a prototype, which is left out', '{"__proto__":{"a":1}}', 200, undefined],
  ['a member that nests too deep among others', `[{"a":1},${nestedMixed(64)}]`, 200, undefined],
  ['the same key twice', '{"id":"one","id":"two","id":"twice"}', 200, undefined],
  ['an array of no objects', '[1,null,"a",[]]', 200, undefined],
  ['2 MiB', `{"a":"${'x'.repeat(2 * 1024 ** 2)}"}`, 413, /larger/],
])('webhook: %s', async (_name, body, status, error) => {
  const answer = await post(addressOf(tokenOf(plain, 'Heyflow')), body);
  expect(answer.status).toBe(status);
  if (error !== undefined) expect(answer.body['error']).toMatch(error);
});

test.each([
  ['no boundary', 'multipart/form-data', 'x', 400],
  ['no parts', 'multipart/form-data; boundary=b', '--b--\r\n', 200],
  [
    'an end that never comes',
    'multipart/form-data; boundary=b',
    '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx',
    400,
  ],
  [
    'a file of 16 KiB',
    'multipart/form-data; boundary=b',
    `--b\r\nContent-Disposition: form-data; name="a"; filename="photo"\r\n\r\n${'x'.repeat(16_384)}\r\n--b--\r\n`,
    200,
  ],
  [
    'JSON in it that is none',
    'multipart/form-data; boundary=b',
    '--b\r\nContent-Disposition: form-data; name="rawRequest"\r\n\r\n{"a":\r\n--b--\r\n',
    200,
  ],
  [
    'JSON in it that nests 100,000 levels',
    'multipart/form-data; boundary=b',
    `--b\r\nContent-Disposition: form-data; name="rawRequest"\r\n\r\n${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}\r\n--b--\r\n`,
    200,
  ],
])('webhook: a multipart form with %s', async (_name, contentType, body, status) => {
  expect((await post(addressOf(tokenOf(plain, 'JotFormWebhooks')), body, { 'content-type': contentType })).status).toBe(
    status,
  );
});

test('webhook: a generic source stores the body as properties, each member of an array as an event, and reads multipart forms', async () => {
  const { token } = testSources.hook;
  expect((await post(addressOf(token, '?distinctId=generic-1'), '{"email":"a@b.test","event":"x"}')).status).toBe(200);
  const [found] = (await storedBy('hook')).filter(({ id }) => id === 'generic-1');
  expect(found?.body).toMatchObject({ event: 'Order hook', eventProperties: { email: 'a@b.test', event: 'x' } });
  expect(found?.body).not.toHaveProperty('email');
  const members = Array.from({ length: 3 }, (_, n) => ({ generic: n }));
  expect((await post(addressOf(token), JSON.stringify(members))).status).toBe(200);
  expect((await storedBy('hook')).filter(({ body }) => 'generic' in Object(body['eventProperties']))).toHaveLength(3);
  expect((await post(addressOf(token), '"a text"')).status).toBe(400);
  const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--b--\r\n';
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  expect((await post(addressOf(token, '?distinctId=generic-2'), part, headers)).status).toBe(200);
  expect((await storedBy('hook')).find(({ id }) => id === 'generic-2')?.body).toMatchObject({
    eventProperties: { a: '1' },
  });
});

test('webhook: Facebook’s challenge is answered if the request has the source key', async () => {
  const token = tokenOf(plain, 'FacebookLeadAds');
  const ask = async (of: string, query: string): Promise<[number, string]> => {
    const answer = await fetch(`${addressOf(of)}?hub.mode=subscribe&${query}`);
    return [answer.status, await answer.text()];
  };
  expect(await ask(token, `hub.challenge=1158201444&hub.verify_token=${token}`)).toEqual([200, '1158201444']);
  expect((await ask(token, 'hub.challenge=1158201444&hub.verify_token=guessed'))[0]).toBe(403);
  expect((await ask(token, `hub.challenge=%3Cscript%3E&hub.verify_token=${token}`))[0]).toBe(400);
  expect((await ask(tokenOf(plain, 'Heyflow'), 'hub.challenge=1'))[0]).toBe(405);
  expect((await ask('nobody', 'hub.challenge=1'))[0]).toBe(401);
});
