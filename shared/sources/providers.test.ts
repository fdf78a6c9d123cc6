import { expect, test } from 'vitest';
import { parseExact, stringifyExact } from '../json/exact-numbers.ts';
import { findSourceKind, sourceKinds } from './registry.ts';
import { providerExamples } from './testing/examples.ts';

const examples = providerExamples(Date.UTC(2026, 10, 22, 12));

test('source kinds: every kind has an example', () => {
  const tried = new Set(examples.map(({ type }) => type));
  expect(sourceKinds.map(({ type }) => type).filter((type) => !tried.has(type))).toEqual([]);
});

test.each(examples.filter(({ contentType }) => contentType === undefined))(
  'source kinds: $type, $name, says who, what and when',
  ({ type, body, events }) => {
    const read = findSourceKind(type)?.readEvents(JSON.parse(body)) ?? [];
    expect(read).toHaveLength(events.length);
    events.forEach((expected, index) => {
      const found = read[index];
      const { traits = {}, context = {}, properties = {}, time, id, ...texts } = expected;
      expect(found).toMatchObject({ kind: 'track', ...texts, properties });
      if (id !== undefined) expect(found?.id).toEqual(typeof id === 'string' ? id : expect.stringMatching(id));
      expect(found?.timeMs).toBe(time === undefined ? undefined : Date.parse(time));
      expect(found?.traits).toMatchObject(traits);
      expect(found?.context).toMatchObject(context);
      // Identifiers that the example lacks are not invented.
      if (expected.email === undefined) expect(found?.email).toBeUndefined();
      if (expected.userId === undefined) expect(found?.userId).toBeUndefined();
      if (expected.externalId === undefined) expect(found?.externalId).toBeUndefined();
    });
  },
);

test('source kinds: a repeated delivery has the same event id, and a later state of the same object has another id', () => {
  const call = findSourceKind('CallRail');
  const idOf = (duration: number): string | undefined =>
    call?.readEvents({ resource_id: 'CAL1', duration, customer_phone_number: '+13035550163' })[0]?.id;
  expect(idOf(4)).toBe(idOf(4));
  expect(idOf(4)).not.toBe(idOf(5));
});

test('source kinds: a secret in the body is not kept in the event', () => {
  const [event] = findSourceKind('Formstack')?.readEvents({ UniqueID: '1', HandshakeKey: 'secret' }) ?? [];
  expect(JSON.stringify(event)).not.toContain('secret');
});

test('source kinds: each notification in a request leads to a fetch of its own object', () => {
  const following = sourceKinds.filter(({ fetch }) => fetch !== undefined);
  for (const { type, fetch, readEvents } of following) {
    const { body = '{}' } = examples.find((example) => example.type === type) ?? {};
    const requests = readEvents(JSON.parse(body)).map(({ properties }) =>
      fetch?.request(properties, { url: 'https://proxy.example.net/to', token: 'a-token' }),
    );
    expect(new Set(requests.map((request) => request?.url)).size).toBe(requests.length);
    for (const request of requests) {
      expect(request?.url).toMatch(/^https:\/\/proxy\.example\.net\/to\/[^?]+$/);
      expect(JSON.stringify(request?.headers)).toContain('a-token');
    }
  }
  expect(following.map(({ type }) => type)).toEqual(['FacebookLeadAds']);
});

const odd: unknown[] = [
  {},
  [],
  [1, 'a', null, [[]]],
  { payload: null, data: 7, entry: 'x', form_response: { answers: { type: 'email' }, definition: 3 } },
  { entry: [{ changes: [null, 4, { value: [] }] }, 5], properties: [], traits: 'x', user_data: [], fields: 'x' },
  { email: { a: 1 }, event: { b: [] }, timestamp: {}, userId: ['x'], messageId: true, rawRequest: '{"a":' },
  { rawRequest: '[1]', inputFields: 5, answers: null, 'form-submissions': [7], responses: 'x', context: 1 },
  { constructor: 1, toString: 2, hasOwnProperty: 3 },
];

test.each(sourceKinds)(
  'source kinds: $type reads any body without an error, into tracks and identifies whose fields are texts',
  (kind) => {
    for (const body of odd) {
      for (const event of kind.readEvents(body)) {
        expect(['track', 'identify']).toContain(event.kind);
        expect([undefined, 'string']).toContain(event.name === undefined ? undefined : typeof event.name);
        for (const text of Object.values({ ...event.traits, ...event.context })) expect(typeof text).toBe('string');
      }
    }
  },
);

/** Values that cannot be converted to text. */
const textless: readonly unknown[] = [{ toString: null }, { toString: 'x', valueOf: 1 }, [[{ toString: null }]]];

/** Copies of the value, each with one member or element, at any depth, replaced by `by`. */
function* replaced(value: unknown, by: unknown): Generator {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    for (const other of [by, ...replaced(member, by)]) {
      yield Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other };
    }
  }
}

test('source kinds: a body is read even if an object in it cannot be converted to text', () => {
  let count = 0;
  for (const { type, body, contentType = 'application/json' } of providerExamples(0)) {
    const kind = findSourceKind(type);
    const example: unknown = contentType === 'application/json' ? JSON.parse(body) : { rawRequest: body };
    for (const by of textless) {
      for (const one of replaced(example, by)) {
        count += 1;
        for (const event of kind?.readEvents(one) ?? []) JSON.stringify(event);
      }
    }
  }
  expect(count).toBeGreaterThan(1_000);
});

test('segment: an alias call becomes the $alias event; a call without previousId becomes an ordinary event', () => {
  const read = findSourceKind('SegmentWebPlugin')?.readEvents;
  const alias = { type: 'alias', messageId: 'm', userId: 'new-7', previousId: 'old-7', anonymousId: 'a' };
  expect(read?.({ ...alias, context: { traits: { email: 'x@y.test' } }, traits: { email: 'x@y.test' } })).toMatchObject(
    [
      {
        kind: 'track',
        name: '$alias',
        userId: 'old-7',
        externalId: 'old-7',
        email: undefined,
        traits: { external_id: 'new-7' },
        properties: { previous_id: 'old-7', id: 'new-7' },
      },
    ],
  );
  // An alias without both ids is an ordinary event.
  expect(read?.({ ...alias, previousId: undefined })).toMatchObject([
    { name: 'alias', userId: 'a', externalId: 'new-7', traits: {} },
  ]);
});

test('segment: an e-mail address among the properties of an event is not the visitor’s', () => {
  const message = { type: 'track', event: 'Friend Invited', properties: { email: 'friend@y.test' } };
  const [event] = findSourceKind('SegmentWebPlugin')?.readEvents(message) ?? [];
  expect(event?.email).toBeUndefined();
});

test('segment: an event has the consent and integrations of its message, even if the message is an alias', () => {
  const read = (message: object): unknown => findSourceKind('SegmentWebPlugin')?.readEvents(message)[0];
  const consent = { categoryPreferences: { Advertising: false } };
  const said = { context: { consent, traits: { email: 'x@y.test' } }, integrations: { All: false } };
  expect(read({ type: 'track', event: 'e', ...said })).toMatchObject({ consent, integrations: { All: false } });
  expect(read({ type: 'alias', previousId: 'a', userId: 'u', ...said })).toMatchObject({ consent, email: undefined });
  for (const odd of ['yes', {}, { categoryPreferences: 'x' }, null]) {
    expect(
      read({ type: 'track', event: 'e', context: { consent: odd }, integrations: odd === null ? null : 'x' }),
    ).toMatchObject({
      consent: undefined,
      integrations: undefined,
    });
  }
});

test('segment: a null trait of an identify clears the property; a null of another call does not', () => {
  const read = (message: object): unknown => findSourceKind('SegmentWebPlugin')?.readEvents(message)[0];
  const traits = { email: null, firstName: null, company: null, phone: '+1', address: { city: null } };
  const context = { traits: { email: 'old@y.test', lastName: null } };
  expect(read({ type: 'identify', traits, context })).toMatchObject({
    email: undefined,
    traits: { email: null, first_name: null, last_name: null, company_name: null, phone_number: '+1', city: null },
  });
  expect(read({ type: 'track', event: 'e', context })).toMatchObject({ email: 'old@y.test', traits: {} });
});

const large = '9007199254740993';

test.each<[type: string, body: string, expected: object]>([
  [
    'SegmentWebPlugin',
    `{"type":"track","event":"e","userId":#,"anonymousId":1.0}`,
    { externalId: large, userId: '1.0' },
  ],
  [
    'SegmentWebPlugin',
    `{"type":"alias","userId":#,"previousId":5}`,
    { externalId: '5', traits: { external_id: large } },
  ],
  ['WhatConverts', `{"lead_id":#,"trigger":"new"}`, { id: expect.stringContaining(`:${large}:new:`) as string }],
  [
    'FacebookLeadAds',
    `{"entry":[{"id":#,"changes":[{"field":"leadgen","value":{"leadgen_id":#}}]}]}`,
    { id: `facebookleadads:${large}:leadgen` },
  ],
])('source kinds: %s: an id that is a number has its digits as sent (%s)', (type, body, expected) => {
  const events = findSourceKind(type)?.readEvents(parseExact(body.replaceAll('#', large)));
  expect(events).toMatchObject([expected]);
});

test.each([
  ['SegmentWebPlugin', `{"type":"page","name":"n","properties":{"n":#}}`],
  ['SegmentWebPlugin', `{"type":"group","groupId":#,"traits":{"n":#}}`],
  ['SegmentWebPlugin', `{"type":"alias","userId":"u","previousId":"p","properties":{"n":#}}`],
  ['Formstack', `{"HandshakeKey":"s","n":#}`],
  ['Branch', `{"user_data":{"developer_identity":"bnc_no_value","n":#},"n":#}`],
  ['FacebookLeadAds', `{"entry":[{"id":#,"changes":[{"field":"leadgen","value":{"n":#}}]}]}`],
  ['CalComWebhooks', `{"triggerEvent":"MEETING_STARTED","uid":"u","n":#}`],
])('source kinds: %s: numbers of the properties are kept as sent (%s)', (type, template) => {
  const [event] = findSourceKind(type)?.readEvents(parseExact(template.replaceAll('#', large))) ?? [];
  const written = stringifyExact(event?.properties, event?.properties);
  expect(written).toContain(`"n":${large}`);
  expect(written).not.toContain('9007199254740992');
});

test('source kinds: the fetch of a lead names it by the digits of its id', () => {
  const body = parseExact(`{"entry":[{"changes":[{"field":"leadgen","value":{"leadgen_id":${large}}}]}]}`);
  const kind = findSourceKind('FacebookLeadAds');
  const [event] = kind?.readEvents(body) ?? [];
  const request = kind?.fetch?.request(event?.properties ?? {}, { url: 'https://proxy.example.net', token: 't' });
  expect(request?.url).toMatch(new RegExp(`/${large}$`));
});
