import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { identifyPayload, trackPayload } from '../../payload/payloads.ts';
import { posthogCapture } from './posthog.ts';
import { specBatch, specCall, specCalls } from './spec-message.ts';
import type { Dialect, Translated, Translation } from './translation.ts';

const dayMs = 86_400_000;
const atMs = Date.parse('2026-11-22T12:00:00Z');
const arrival = { atMs, timeWindow: { pastMsMax: 7 * dayMs, aheadMsMax: 300_000 } };

function translated(translation: Translation): Translated {
  if ('problem' in translation) throw new Error(translation.problem);
  return translation;
}

/** Translates a message of a batch whose other members are `batch`. */
const ofBatch = (message: JsonObject, batch: JsonObject = {}): Translated =>
  translated(specBatch.translate({ messageId: 'm', ...message }, batch, arrival));

const bodyOf = (message: JsonObject, batch?: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(ofBatch(message, batch).body)) as JsonObject;

test.each([
  ['spec', specBatch, (id: string) => ({ type: 'track', event: 'e', messageId: id })],
  ['posthog', posthogCapture, (id: string) => ({ event: 'e', distinct_id: 'd', uuid: id })],
  ['posthog', posthogCapture, (id: string) => ({ event: 'e', distinct_id: 'd', properties: { $insert_id: id } })],
])('%s: of an event’s id that is too long, the end is kept', (_, dialect, message) => {
  const idOf = (id: string): unknown => translated(dialect.translate(message(id), {}, arrival)).id;
  expect([idOf('own'), idOf(`${'x'.repeat(50_000)}${'y'.repeat(400)}`)]).toEqual(['own', 'y'.repeat(400)]);
});

test('spec: identifiers, event and properties get the names used here', () => {
  const message = { type: 'track', event: 'Signed Up', userId: 'u', anonymousId: 'a', properties: { plan: 'pro' } };
  expect(ofBatch(message)).toMatchObject({ kind: 'track', id: 'm', identity: { userId: 'a', externalId: 'u' } });
  expect(bodyOf(message)).toEqual({
    event: 'Signed Up',
    userId: 'a',
    externalId: 'u',
    eventProperties: { plan: 'pro' },
    defaultProperties: {},
  });
});

test.each([
  ['empty', { userId: '', anonymousId: '' }, {}],
  ['null', { userId: null, anonymousId: null }, {}],
  ['numbers', { userId: 42, anonymousId: 7 }, { userId: '7', externalId: '42' }],
])('spec: identifiers that are %s', (_, ids, expected) => {
  const { userId, externalId } = bodyOf({ type: 'track', event: 'e', ...ids });
  expect({ userId, externalId }).toEqual({ userId: undefined, externalId: undefined, ...expected });
});

test('spec: a line of an archive keeps its time; the time of a live message is corrected by its sender’s clock', () => {
  const at = (ms: number): string => new Date(ms).toISOString();
  const dayAgo = atMs - dayMs;
  const line = {
    type: 'track',
    event: 'e',
    originalTimestamp: at(dayAgo - 7_200_000),
    timestamp: at(dayAgo),
    sentAt: at(dayAgo - 7_000_000),
  };
  expect(bodyOf({ ...line, receivedAt: at(dayAgo) })['time']).toBe(dayAgo);
  expect(bodyOf({ ...line, receivedAt: at(dayAgo) }, { sentAt: at(atMs) })['time']).toBe(dayAgo);
  // Without a valid `receivedAt` the message is live, so its sender's clock is corrected.
  expect(bodyOf(line)['time']).toBe(atMs - 200_000);
  expect(bodyOf({ ...line, receivedAt: 'no time' })['time']).toBe(atMs - 200_000);
});

test('spec: traits that have a name here get that name, and all others become custom properties', () => {
  const traits = {
    email: 'a@b.test',
    firstName: 'Ada',
    phone: '+49',
    title: null,
    birthday: '1815-12-10',
    address: { city: 'London', postalCode: 'N1', street: 'Lane 1' },
    company: { name: 'Acme', id: 7 },
    plan: 'pro',
    age: 36,
  };
  const message = { type: 'identify', userId: 'u', context: { traits: { plan: 'free', seats: 3 } }, traits };
  expect(ofBatch(message).kind).toBe('identify');
  expect(bodyOf(message)['userProperties']).toEqual({
    email: 'a@b.test',
    first_name: 'Ada',
    phone_number: '+49',
    job_title: null,
    date_of_birth: '1815-12-10',
    city: 'London',
    zip: 'N1',
    company_name: 'Acme',
    custom_properties: {
      plan: 'pro',
      seats: 3,
      age: 36,
      address: { street: 'Lane 1' },
      company: { name: 'Acme', id: 7 },
    },
  });
});

test.each([
  ['track', { event: 'e' }],
  ['page', {}],
  ['screen', {}],
  ['group', { groupId: 'g' }],
])('spec: the traits in the context of a %s are stored for the person of that event', (type, fields) => {
  const context = { traits: { email: 'a@b.test', name: 'Ada Byron', phone: 15_551_234_567, address: { zip: 2110 } } };
  const message = { type, userId: 'u', context, ...fields };
  const expected = { email: 'a@b.test', phone_number: '15551234567', zip: '2110' };
  expect(bodyOf(message)['userProperties']).toMatchObject({ ...expected, custom_properties: { name: 'Ada Byron' } });
  expect(ofBatch(message).identity.userProperties).toMatchObject(expected);
  // The result is the same if the batch gives the context for all of its messages.
  const { context: _context, ...bare } = message;
  expect(bodyOf(bare, { context })['userProperties']).toMatchObject(expected);
});

test('spec: the traits of a group are not stored for the person, and an alias stores none', () => {
  const context = { traits: { email: 'a@b.test', plan: 'pro' } };
  const group = { type: 'group', groupId: 'g', userId: 'u', traits: { email: 'info@acme.test' }, context };
  expect(bodyOf(group)['userProperties']).toEqual({
    email: 'a@b.test',
    custom_properties: { plan: 'pro', group_id: 'g' },
  });
  const alias = { type: 'alias', userId: 'u', previousId: 'p', context };
  expect(bodyOf(alias)['userProperties']).toEqual({ external_id: 'u' });
});

test.each([
  'msclkid',
  'gbraid',
  'wbraid',
  'li_fat_id',
  'ScCid',
  'epik',
  'rdt_cid',
  'tblci',
  'dicbo',
  'irclickid',
  'qclid',
])('spec: the click id %s is read from the query of a page address', (name) => {
  const page = { url: `https://shop.test/?${name}=M` };
  expect(bodyOf({ type: 'page', properties: page })['defaultProperties']).toMatchObject({ [name]: 'M' });
  expect(bodyOf({ type: 'track', event: 'e', context: { page } })['defaultProperties']).toMatchObject({ [name]: 'M' });
});

test.each([
  ['numbers', { zipcode: 2110, phone: 15_551_234_567 }, { zip: '2110', phone_number: '15551234567' }],
  [
    'other spellings',
    { FirstName: 'A', last_name: 'B', Region: 'MA' },
    { first_name: 'A', last_name: 'B', state: 'MA' },
  ],
  ['an address', { address: { postal_code: 1, region: 'MA' } }, { zip: '1', state: 'MA' }],
  ['two names for one, of which the first that says something counts', { state: '', region: 'MA' }, { state: 'MA' }],
  ['a company with a name that is a number', { company: { name: 7 } }, { company_name: '7' }],
])('spec: traits that are %s', (_, traits, expected) => {
  const { userProperties } = bodyOf({ type: 'identify', userId: 'u', traits });
  expect(userProperties).toMatchObject(expected);
});

test('spec: members of the context get the names used here, and members unknown here keep their own', () => {
  const context = {
    ip: '203.0.113.7',
    userAgent: 'Mozilla/5.0',
    locale: 'fr-FR',
    page: {
      url: 'https://Shop.test/a?gclid=g&utm_source=news',
      referrer: 'https://o.test/',
      tab_url: 'x',
      title: null,
    },
    campaign: { name: 'spring', medium: 'email' },
    device: { advertisingId: 'ad', type: 'ios' },
    os: { name: 'iOS', version: '19' },
    screen: { width: 390 },
    sessionId: 12,
    consent: { categoryPreferences: { Advertising: false } },
    active: false,
    traits: { plan: 'pro' },
    userHash: 'signed',
  };
  const body = bodyOf({ type: 'track', event: 'e', context });
  expect(body['identityContext']).toEqual({ ip: '203.0.113.7', userAgent: 'Mozilla/5.0' });
  expect(body['userProperties']).toEqual({ consent: { Advertising: false }, custom_properties: { plan: 'pro' } });
  expect(body['consent']).toEqual({ categoryPreferences: { Advertising: false } });
  expect(body['userHash']).toBe('signed');
  expect(body['defaultProperties']).toEqual({
    locale: 'fr-FR',
    current_url: 'https://Shop.test/a?gclid=g&utm_source=news',
    host: 'shop.test',
    pathname: '/a',
    referrer: 'https://o.test/',
    tab_url: 'x',
    gclid: 'g',
    utm_source: 'news',
    utm_campaign: 'spring',
    utm_medium: 'email',
    device_advertising_id: 'ad',
    device_type: 'ios',
    os_name: 'iOS',
    os_version: '19',
    screen_width: 390,
    sid: '12',
    active: false,
  });
});

test('spec: members of a batch apply to messages that lack them, and the members of a message win', () => {
  const batch = {
    context: { library: { name: 'java' }, locale: 'de' },
    integrations: { All: false },
    sentAt: '2026-11-22T11:00:00Z',
  };
  const message = { type: 'track', event: 'e', timestamp: '2026-11-22T10:59:00Z', context: { locale: 'fr' } };
  const { defaultProperties, integrations, time } = bodyOf(message, batch);
  expect(defaultProperties).toEqual({ library_name: 'java', locale: 'fr' });
  expect(integrations).toEqual({ All: false });
  // The sender's clock is an hour behind.
  expect(time).toBe(atMs - 60_000);
});

test.each([
  ['no time', {}, undefined, undefined],
  ['nanoseconds', { timestamp: '2026-11-22T11:59:59.970445146Z' }, atMs - 30, undefined],
  ['an offset', { timestamp: '2026-11-22T13:59:00.000+02:00' }, atMs - 60_000, undefined],
  ['no zone', { timestamp: '2026-11-22T11:59:00' }, atMs - 60_000, undefined],
  ['a zone of hours', { timestamp: '2026-11-22T16:59:00+05' }, atMs - 60_000, undefined],
  ['a number', { timestamp: atMs - 1 }, atMs - 1, undefined],
  ['what is no time', { timestamp: 'yesterday' }, undefined, undefined],
  [
    'the original before the corrected',
    { originalTimestamp: '2026-11-22T11:58:00Z', timestamp: 0 },
    atMs - 120_000,
    undefined,
  ],
  ['years ago', { timestamp: '2024-02-29T12:00:00Z' }, atMs - 7 * dayMs, Date.parse('2024-02-29T12:00:00Z')],
  ['in an hour', { timestamp: '2026-11-22T13:00:00Z' }, atMs, atMs + 3_600_000],
])('spec: a time with %s', (_, fields, time, clampedFrom) => {
  const body = bodyOf({ type: 'track', event: 'e', ...fields });
  expect(body['time']).toBe(time);
  expect((body['defaultProperties'] as JsonObject)['time_clamped_from']).toBe(clampedFrom);
});

test.each([
  ['half a day', '3:04 pm'],
  ['Arabic digits', '٢٠٢٦-١١-٢٢T١١:٥٩:٠٠Z'],
  ['a zone by its name', '2026-11-21T11:59:00 CEST'],
  ['a long text', 'x'.repeat(500)],
])('translation: an unreadable time (%s) is replaced by the time of arrival, and its text is kept', (_, timestamp) => {
  const kept = { original_time: timestamp.slice(0, 100) };
  expect(bodyOf({ type: 'track', event: 'e', timestamp })).toMatchObject({ defaultProperties: kept });
  const { body } = translated(posthogCapture.translate({ event: 'e', timestamp }, {}, arrival));
  expect(body).toMatchObject({ time: undefined, defaultProperties: kept });
  for (const none of ['', null, undefined, {}]) {
    const { defaultProperties } = bodyOf({ type: 'track', event: 'e', timestamp: none });
    expect(defaultProperties).not.toHaveProperty('original_time');
  }
});

test.each([1_000, 30_000, 3_600_000])(
  'translation: %s ms between sending and arrival are all added to the time',
  (ms) => {
    const [timestamp, sentAt] = [new Date(atMs - 60_000 - ms).toISOString(), new Date(atMs - ms).toISOString()];
    expect(bodyOf({ type: 'track', event: 'e', timestamp }, { sentAt })['time']).toBe(atMs - 60_000);
    const capture = posthogCapture.translate({ event: 'e', timestamp }, { sent_at: sentAt }, arrival);
    expect(translated(capture).body['time']).toBe(atMs - 60_000);
  },
);

test('translation: an id that is an object, a list or a boolean is left out, and the event is kept', () => {
  for (const id of [{ id: 1 }, ['u'], true, false]) {
    const { identity } = ofBatch({ type: 'track', event: 'e', userId: id, anonymousId: id });
    expect(identity).toMatchObject({ userId: undefined, externalId: undefined });
    const capture = translated(posthogCapture.translate({ event: 'e', distinct_id: id }, {}, arrival));
    expect(capture.identity).toMatchObject({ userId: undefined, externalId: undefined });
  }
});

test('spec: a single call needs no type, and the page of a page call is also used as its context', () => {
  const message = { name: 'Home', category: null, properties: { url: 'https://a.test/x', title: 'X' } };
  const { body } = translated(specCall('page').translate(message, message, arrival));
  expect(body).toMatchObject({
    event: 'Page Viewed',
    eventProperties: { name: 'Home', url: 'https://a.test/x' },
    defaultProperties: { current_url: 'https://a.test/x', host: 'a.test', pathname: '/x', title: 'X' },
  });
});

test.each([
  ['an unknown type', { type: 'video' }, /^type must be one of/],
  ['a track without a name', { type: 'track' }, /^event must be/],
  ['a track with a long name', { type: 'track', event: 'e'.repeat(1_001) }, /^event must be/],
  ['a long id', { type: 'track', event: 'e', userId: 'u'.repeat(401) }, /^userId must be/],
  ['a group without an id', { type: 'group' }, /^groupId is required/],
  ['an alias without a userId', { type: 'alias', previousId: 'a' }, /^userId is required/],
  ['an alias without a previousId', { type: 'alias', userId: 'u' }, /^previousId is required/],
])('spec: %s is refused with the reason', (_, message, problem) => {
  expect(specBatch.translate(message, {}, arrival)).toEqual({ problem: expect.stringMatching(problem) as unknown });
});

test('posthog: a distinct_id is the id of a customer, unless it equals the id of the device', () => {
  const capture = (fields: JsonObject): Translated => translated(posthogCapture.translate(fields, {}, arrival));
  expect(capture({ event: 'e', distinct_id: 'u', uuid: 'i' })).toMatchObject({
    id: 'i',
    identity: { externalId: 'u' },
  });
  const anonymous = capture({ event: 'e', distinct_id: 'd', properties: { $device_id: 'd' } });
  expect(anonymous.identity).toEqual({ userId: 'd' });
  const identified = capture({
    event: '$identify',
    distinct_id: 'u',
    properties: { $anon_distinct_id: 'd', $set: { plan: 'pro' } },
  });
  expect(identified).toMatchObject({
    kind: 'identify',
    identity: { userId: 'd', externalId: 'u' },
    body: { userProperties: { custom_properties: { plan: 'pro' } } },
  });
});

test.each<[string, string, JsonObject, object]>([
  ['a mobile library before login', 'e', { $is_identified: false }, { userId: 'd' }],
  ['a mobile library after login', 'e', { $is_identified: true }, { externalId: 'd' }],
  ['posthog-js after a reset', 'e', { $is_identified: false, $device_id: 'old' }, { userId: 'd' }],
  [
    'an identify that still reports false',
    '$identify',
    { $is_identified: false, $anon_distinct_id: 'a' },
    { userId: 'a', externalId: 'd' },
  ],
])('posthog: `$is_identified` of %s decides whether the distinct_id is a customer’s', (_, event, properties, ids) => {
  const { identity, body } = translated(posthogCapture.translate({ event, distinct_id: 'd', properties }, {}, arrival));
  const expected = { userId: undefined, externalId: undefined, ...ids };
  expect(identity).toMatchObject(expected);
  expect(body).toMatchObject(expected);
});

test.each([
  ['no one', '$company_c1', undefined],
  ['a person', 'ada', 'ada'],
  ['a person named like another group', '$company_c2', '$company_c2'],
])('posthog: a group identified by %s is no person of its own', (_by, distinctId, externalId) => {
  const properties = { $group_type: 'company', $group_key: 'c1', $group_set: { name: 'Acme' } };
  const capture = (event: string, ids: JsonObject): Translated =>
    translated(posthogCapture.translate({ event, ...ids }, {}, arrival));
  for (const ids of [
    { distinct_id: distinctId, properties },
    { properties: { ...properties, distinct_id: distinctId } },
  ]) {
    const { identity, body } = capture('$groupidentify', ids);
    expect([identity.userId, identity.externalId]).toEqual([undefined, externalId]);
    expect(body).toMatchObject({ event: '$group', externalId, eventProperties: properties });
  }
  // Only a library that identifies a group makes up such an id.
  expect(capture('e', { distinct_id: distinctId, properties }).identity.externalId).toBe(distinctId);
});

test.each<[by: string, properties: JsonObject, previousId: string]>([
  ['a server', {}, 'alias'],
  ['a browser after login', { $device_id: 'device', $is_identified: true }, 'alias'],
  ['an anonymous browser', { $device_id: 'distinct', $is_identified: false }, 'distinct'],
  ['an anonymous mobile app', { $is_identified: false }, 'distinct'],
])('posthog: in an alias of %s, the id of a person follows the other one', (_, properties, previousId) => {
  const id = previousId === 'alias' ? 'distinct' : 'alias';
  for (const event of ['$create_alias', '$merge_dangerously']) {
    const message = { event, distinct_id: 'distinct', properties: { ...properties, alias: 'alias' } };
    expect(translated(posthogCapture.translate(message, {}, arrival))).toMatchObject({
      kind: 'track',
      identity: { userId: previousId, externalId: previousId, userProperties: { external_id: id } },
      body: {
        event: '$alias',
        userId: previousId,
        externalId: previousId,
        userProperties: { external_id: id },
        eventProperties: { previous_id: previousId, id },
      },
    });
  }
});

test('posthog: the property `alias` is an identifier only in an alias', () => {
  const translate = (event: string): Translation =>
    posthogCapture.translate({ event, distinct_id: 'u', properties: { alias: 'a'.repeat(401) } }, {}, arrival);
  expect(translated(translate('Named')).body['eventProperties']).toEqual({ alias: 'a'.repeat(401) });
  expect(translate('$create_alias')).toEqual({ problem: expect.stringMatching(/^alias must be/) as unknown });
});

const messageNames = `
  type event userId anonymousId messageId timestamp sentAt properties traits
  context previousId groupId name category integrations channel distinct_id uuid $set
`
  .trim()
  .split(/\s+/);
const memberNames = `
  page url traits email address company ip userAgent campaign name
  consent city categoryPreferences sessionId device $set $current_url $device_id alias __proto__ toString
`
  .trim()
  .split(/\s+/);

// Known names with any values: every translation must be a valid payload.
const names = fc.constantFrom(...messageNames);
const inner = fc.dictionary(
  fc.constantFrom(...memberNames),
  fc.oneof(
    fc.jsonValue(),
    fc.string({ minLength: 2_001, maxLength: 2_100 }),
    fc.dictionary(fc.string(), fc.jsonValue()),
  ),
);
const value = fc.oneof(
  fc.constantFrom(...specCalls, '$identify', '$create_alias', '2026-11-22T11:59:00Z'),
  fc.jsonValue(),
  inner,
);
const message = fc.dictionary(names, value, { noNullPrototype: true });

test.each<readonly [string, Dialect]>([
  ['a batch', specBatch],
  ...specCalls.map((call) => [call, specCall(call)] as const),
  ['a capture', posthogCapture],
])('translation of %s: any input becomes a valid payload or has a problem', (_, dialect) => {
  fc.assert(
    fc.property(message, message, (one, batch) => {
      const translation = dialect.translate(one, batch, arrival);
      if ('problem' in translation) {
        expect(translation.problem).not.toBe('');
        return;
      }
      const body: unknown = JSON.parse(JSON.stringify({ ...translation.body, token: '*' }));
      const check = translation.kind === 'identify' ? identifyPayload : trackPayload;
      expect([...check.Errors(body)].map(({ instancePath, message: text }) => `${instancePath} ${text}`)).toEqual([]);
      expect(isJsonObject(body)).toBe(true);
    }),
    { numRuns: 150 },
  );
});

test('posthog: `offset` says how long before its arrival an event happened if it has no time', () => {
  const at = (message: object, sentAtMs?: number): unknown =>
    translated(posthogCapture.translate({ event: 'e', ...message }, {}, { ...arrival, sentAtMs })).body['time'];
  expect(at({ offset: 2_500 })).toBe(atMs - 2_500);
  expect(at({ offset: 2_500 }, atMs - 1_000)).toBe(atMs - 2_500);
  expect(at({ offset: 2_500, timestamp: null })).toBe(atMs - 2_500);
  expect(at({ offset: 2_500, timestamp: new Date(atMs - 9).toISOString() })).toBe(atMs - 9);
  expect(at({ offset: -400_000 })).toBe(atMs);
  expect(at({ offset: 'soon' })).toBeUndefined();
  expect(at({ offset: 8 * dayMs })).toBe(atMs - 7 * dayMs);
});

test('posthog: a time is corrected by the time of sending, which old versions put into the query', () => {
  const timestamp = new Date(atMs - 60_000).toISOString();
  const at = (query: string, body: JsonObject = {}): unknown => {
    const sentAtMs = posthogCapture.sentAtOf?.(query);
    return translated(posthogCapture.translate({ event: 'e', timestamp }, body, { ...arrival, sentAtMs })).body['time'];
  };
  // The sender's clock is an hour ahead.
  expect(at(`ip=1&_=${atMs + 3_600_000}&ver=1.130.0`)).toBe(atMs - 60_000 - 3_600_000);
  expect(at(`_=${atMs + 3_600_000}`, { sent_at: new Date(atMs).toISOString() })).toBe(atMs - 60_000);
  for (const query of ['', '_=', '_=1', '_=now', 'a_=1795749997092']) expect(at(query)).toBe(atMs - 60_000);
});

test.each([
  ['api_key', { api_key: 'k' }],
  ['token', { token: 'k' }],
  ['$token', { $token: 'k' }],
  ['properties.token', { properties: { token: 'k' } }],
  ['properties.$token', { properties: { $token: 'k' } }],
  ['properties.api_key', { properties: { api_key: 'k' } }],
])('posthog: the key of messages is found in %s', (_name, message) => {
  expect(posthogCapture.keyOfMessages?.([{ event: 'e' }, message, message])).toBe('k');
  expect(posthogCapture.keyOfMessages?.([message, { token: 'other' }])).toBeUndefined();
});

test('posthog: a userHash among the properties signs the distinct_id, and is not stored as a property', () => {
  const capture = (properties: JsonObject): JsonObject =>
    translated(posthogCapture.translate({ event: 'e', distinct_id: 'ada', properties }, {}, arrival)).body;
  expect(capture({ userHash: 'ab12', plan: 'pro' })).toMatchObject({
    externalId: 'ada',
    userHash: 'ab12',
    eventProperties: { plan: 'pro' },
  });
  expect(capture({ userHash: 'ab12' })['eventProperties']).toEqual({});
  expect(capture({ userHash: 7 })['userHash']).toBeUndefined();
});

test('posthog: a message that only sets properties of a person is an identify', () => {
  const message = { $distinct_id: 'ada', $token: 'k', $set: { email: 'a@b.test', plan: 'pro' } };
  expect(translated(posthogCapture.translate(message, {}, arrival))).toMatchObject({
    kind: 'identify',
    identity: { externalId: 'ada' },
    body: { userProperties: { email: 'a@b.test', custom_properties: { plan: 'pro' } } },
  });
  expect(posthogCapture.translate({ distinct_id: 'ada' }, {}, arrival)).toHaveProperty('problem');
});
