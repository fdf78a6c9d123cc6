import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bodyBytes,
  envelopeHead,
  envelopeLine,
  envelopePrefix,
  readEnvelope,
} from '../../../shared/contracts/events/envelope.ts';
import type { Envelope } from '../../../shared/contracts/events/envelope.ts';
import { readPlainEnvelope } from '../../../shared/contracts/events/plain-envelope.ts';
import { bodyText } from '../../../shared/contracts/events/testing/json-texts.ts';
import { payloadFieldRows } from '../../../shared/contracts/ingest/payload-fields.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import type { VisitorTouch } from '../../../shared/visitors/visitor-store.ts';
import { readEvent, readPlainEvent } from './read-event.ts';
import { readTouch } from './read-touch.ts';
import type { IngestEvent, JsonParts } from './read-event.ts';
import { openResolvePlan } from './resolve-plan.ts';

const ofServer = openResolvePlan.sourceRules('any');
const rules = { ...ofServer, isVisitorsConnection: true };

function envelope(body: JsonObject, more: Partial<Envelope> = {}): Envelope {
  return { v: 1, kind: 'track', id: 'e', account: 'a', source: 's', at: 1_000, body: { event: 'E', ...body }, ...more };
}

const touchOf = (of: Envelope): VisitorTouch => readTouch(of, 'server').touch;

/** The properties an event gives, as one object. */
const given = (body: JsonObject, more?: Partial<Envelope>): JsonObject =>
  Object.assign({}, ...touchOf(envelope(body, more)).given);

const propertiesOf = ({ properties }: IngestEvent): unknown => parse(properties);
const contextOf = ({ context }: IngestEvent): unknown => parse(context);

function parse({ before, taken, behind }: JsonParts): unknown {
  return JSON.parse(`${before}${taken?.bytes.toString('utf8', taken.start, taken.end) ?? ''}${behind}`);
}

describe('readEvent', () => {
  it.each<[name: string, body: JsonObject, expected: JsonObject]>([
    ['properties alone', { properties: { a: 1 } }, { a: 1 }],
    ['eventProperties alone', { eventProperties: { a: 1 } }, { a: 1 }],
    ['both, eventProperties win', { properties: { a: 1, b: 1 }, eventProperties: { b: 2 } }, { a: 1, b: 2 }],
    ['null and absent', { properties: null, eventProperties: null }, {}],
  ])('readEvent: event properties from %s', (_name, body, expected) => {
    expect(propertiesOf(readEvent(envelope(body), rules))).toEqual(expected);
  });

  it('readEvent: options of a destination go into the context, and whether it is switched on goes into integrations', () => {
    const event = readEvent(envelope({ integrations: { All: false, GA4: { clientId: '5.7' }, Other: {} } }), rules);
    expect(contextOf(event)).toEqual({ integrations: { GA4: { clientId: '5.7' } } });
    expect(event.integrations).toEqual({ All: false, GA4: true, Other: true });
    const large = { GA4: { text: 'x'.repeat(20_000) } };
    expect(contextOf(readEvent(envelope({ integrations: large }), rules))).toEqual({});
  });

  it('readEvent: of more integrations than are read, every exclusion counts', () => {
    const names = (wanted: boolean) => Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`D${n}`, wanted]));
    const integrationsOf = (integrations: JsonObject) => readEvent(envelope({ integrations }), rules).integrations;
    const some = integrationsOf({ ...names(true), GA4: false, All: false });
    expect(some).toMatchObject({ GA4: false, All: false, D0: true });
    expect(Object.keys(some ?? {})).toHaveLength(100);
    expect(integrationsOf({ All: true, ...names(false), GA4: false })).toEqual({ ...names(false), GA4: false });
    expect(integrationsOf(names(true))).toBeUndefined();
  });

  it('readTouch: click ids are properties of the visitor, with the time of the event', () => {
    const page = { current_url: 'https://a.test/?gclid=G', _fbp: 'fb.1.2.3' };
    expect(given({ defaultProperties: page, time: 5 })).toEqual({
      click_ids: { gclid: { id: 'G', at: 5 }, _fbp: { id: 'fb.1.2.3', at: 5 } },
    });
    expect(given({}, { ctx: { defaultProperties: { msclkid: 'M' } } })).toMatchObject({
      click_ids: { msclkid: { id: 'M' } },
    });
  });

  it('readEvent: an identify becomes the $identify event, with its userProperties as event properties', () => {
    const event = readEvent(envelope({ userProperties: { city: 'Oslo', zip: null } }, { kind: 'identify' }), rules);
    expect({ ...event, properties: propertiesOf(event) }).toMatchObject({
      name: '$identify',
      properties: { city: 'Oslo', zip: null },
    });
  });

  it('readEvent: the time of an event is that of the client, else the time when the event was accepted', () => {
    expect(readEvent(envelope({ time: 5 }), rules).timeMs).toBe(5);
    expect(readEvent(envelope({ time: null }), rules).timeMs).toBe(1_000);
  });

  it('readEvent: an identify’s time that is in another unit or ahead counts as not stated', () => {
    const at = Date.UTC(2026, 0, 1);
    const identify = (time: number): Envelope =>
      envelope({ time, userProperties: {}, consent: { ads: false } }, { kind: 'identify', at });
    for (const time of [at - 30 * 86_400_000, at - 1, at + 300_000])
      expect(readEvent(identify(time), rules).timeMs).toBe(time);
    for (const time of [at / 1_000, at * 1_000, 1e17, -1, 0, at + 300_001, Number.POSITIVE_INFINITY]) {
      expect(readEvent(identify(time), rules).timeMs).toBe(at);
      expect(touchOf(identify(time)).saidAtMs).toBe(at);
    }
  });

  it.each<[name: string, body: JsonObject, more: Partial<Envelope>, expected: JsonObject]>([
    ['the connection', {}, { ip: '1', ua: 'A' }, { ip: '1', user_agent: 'A' }],
    [
      'the client before the connection',
      { defaultProperties: { ip: '2', host: 'h' } },
      { ip: '1', ua: 'A' },
      { ip: '2', user_agent: 'A', host: 'h' },
    ],
    [
      'identityContext before all',
      { defaultProperties: { ip: '2' }, identityContext: { ip: '3', userAgent: 'C' } },
      { ip: '1', ua: 'A' },
      { ip: '3', user_agent: 'C' },
    ],
    [
      'an identityContext with half of it',
      { identityContext: { ip: '3', userAgent: null } },
      { ip: '1', ua: 'A' },
      { ip: '3', user_agent: 'A' },
    ],
    [
      'the batch, then the row',
      { defaultProperties: { host: 'row' } },
      { ctx: { defaultProperties: { host: 'batch', path: '/' }, identityContext: { ip: '4' } } },
      { host: 'row', path: '/', ip: '4' },
    ],
  ])('readEvent: context from %s', (_name, body, more, expected) => {
    expect(contextOf(readEvent(envelope(body, more), rules))).toEqual(expected);
  });

  it.each<[name: string, body: JsonObject, more: Partial<Envelope>, expected: JsonObject]>([
    ['is kept apart', {}, { ip: '1', ua: 'A' }, { sender: { ip: '1', user_agent: 'A' } }],
    [
      'is not the visitor’s where the server says half of it',
      { identityContext: { ip: '3' } },
      { ip: '1', ua: 'A' },
      { ip: '3', sender: { ip: '1', user_agent: 'A' } },
    ],
    [
      'cannot be claimed by a client',
      { defaultProperties: { sender: { ip: '9' }, user_agent: 'C' } },
      { ip: '1' },
      { user_agent: 'C', sender: { ip: '1' } },
    ],
    ['is nothing where the gateway received nothing', {}, {}, {}],
  ])('readEvent: the connection of a calling server %s', (_name, body, more, expected) => {
    expect(contextOf(readEvent(envelope(body, more), ofServer))).toEqual(expected);
  });

  it('readEvent: for a source that excludes the request context, neither its address nor its User-Agent is kept', () => {
    const excluding = { ...rules, excludeRequestContext: true };
    const event = readEvent(envelope({ identityContext: { ip: '3' } }, { ip: '1', ua: 'A' }), excluding);
    expect(contextOf(event)).toEqual({ ip: '3' });
    const server = { ...excluding, isVisitorsConnection: false };
    expect(contextOf(readEvent(envelope({}, { ip: '1', ua: 'A' }), server))).toEqual({});
  });
});

describe('readTouch', () => {
  it.each<[name: string, body: JsonObject, expected: JsonObject]>([
    ['userId', { userId: 'u' }, { userId: 'u', externalIds: [], emails: [] }],
    [
      'externalId and e-mail',
      { externalId: 'x', email: ' A@B.c' },
      { userId: undefined, externalIds: ['x'], emails: ['a@b.c'] },
    ],
    [
      'userProperties',
      { userProperties: { external_id: 'x', email: 'A@B.c' } },
      { externalIds: ['x'], emails: ['a@b.c'] },
    ],
    [
      'both places, the top level first',
      { externalId: 'x', userProperties: { external_id: 'y' } },
      { externalIds: ['x'] },
    ],
    ['the same in both places', { email: 'a@b.c', userProperties: { email: 'A@b.c' } }, { emails: ['a@b.c'] }],
    ['empty texts', { userId: '', externalId: '', email: '  ' }, { userId: undefined, externalIds: [], emails: [] }],
    ['nulls', { userId: null, externalId: null, email: null }, { userId: undefined, externalIds: [], emails: [] }],
    [
      'text PostgreSQL cannot store',
      { userId: 'u\0', externalId: 'x\ud800' },
      { userId: 'u', externalIds: ['x\ufffd'] },
    ],
  ])('readTouch: the visitor named by %s', (_name, body, expected) => {
    expect(touchOf(envelope(body)).claim).toMatchObject(expected);
  });

  it('readTouch: an event without identifiers gets an anonymous id, an event with an identifier does not', () => {
    expect(touchOf(envelope({})).claim.anonymousId).toBeDefined();
    expect(touchOf(envelope({ email: 'a@b.c' })).claim.anonymousId).toBeUndefined();
  });

  it('readTouch: an identifier is also a property, spelled as in userProperties if it is given there', () => {
    expect(given({ externalId: 'x', email: 'Ann@B.c' })).toMatchObject({ external_id: 'x', email: 'ann@b.c' });
    expect(given({ email: 'ann@b.c', userProperties: { email: 'Ann@B.c' } })).toMatchObject({ email: 'Ann@B.c' });
    expect(given({ email: 'ann@b.c', userProperties: { email: '' } })).toMatchObject({ email: '' });
  });

  it('readTouch: a null clears a property, but not an identifier that the same event names', () => {
    expect(given({ userId: 'u', userProperties: { email: null } })).toMatchObject({ email: null });
    expect(given({ email: 'a@b.c', userProperties: { email: null, city: null } })).toMatchObject({
      email: 'a@b.c',
      city: null,
    });
  });

  it('readTouch: identifiers that are placeholders identify no visitor, are no property and are counted', () => {
    const body = {
      userId: '[object Object]',
      externalId: ' Undefined',
      email: 'null',
      userProperties: { external_id: '0', email: 'None', city: 'Oslo' },
    };
    const { touch, placeholders } = readTouch(envelope(body), 'server');
    expect(placeholders).toBe(5);
    expect(touch.claim).toMatchObject({ userId: undefined, externalIds: [], emails: [] });
    expect(touch.claim.anonymousId).toBeDefined();
    expect(touch.given).toEqual([{ city: 'Oslo' }]);
    const known = readTouch(envelope({ ...body, externalId: 'c-1' }), 'server');
    expect(known.placeholders).toBe(4);
    expect(known.touch.claim).toMatchObject({ userId: undefined, externalIds: ['c-1'], anonymousId: undefined });
    expect(known.touch.given).toEqual([{ external_id: 'c-1' }, { city: 'Oslo' }]);
  });

  it('readTouch: an event that names two people and is no alias keeps only the first of the two externalIds', () => {
    const body = { externalId: 'x', userProperties: { external_id: 'y', city: 'Oslo' } };
    const { touch, namesTwo } = readTouch(envelope(body), 'server');
    expect(namesTwo).toBe(true);
    expect(touch.given).toEqual([{ external_id: 'x' }, { city: 'Oslo' }]);
    expect(touch.claim).toMatchObject({ externalIds: ['x'], isAlias: false });
    const alias = readTouch(envelope({ ...body, event: '$alias' }), 'server');
    expect(alias).toMatchObject({ namesTwo: false, touch: { claim: { externalIds: ['x', 'y'], isAlias: true } } });
    expect(Object.assign({}, ...alias.touch.given)).toMatchObject({ external_id: 'y' });
    const identify = readTouch(envelope({ ...body, event: '$alias' }, { kind: 'identify' }), 'server');
    expect(identify).toMatchObject({ namesTwo: true, touch: { claim: { isAlias: false } } });
  });

  it('readTouch: an event of a test key counts as sent with a test key, whatever the trust of its source', () => {
    expect(readTouch(envelope({}), 'public').touch.sentWith).toBe('public');
    expect(readTouch(envelope({}), 'server').touch.sentWith).toBe('server');
    expect(readTouch(envelope({}, { test: true }), 'server').touch.sentWith).toBe('test');
  });

  it('readTouch: custom_properties come from the batch, userProperties and the top level', () => {
    const { given } = touchOf(
      envelope(
        { custom_properties: { c: 3 }, userProperties: { custom_properties: { b: 2 } } },
        { ctx: { custom_properties: { a: 1 } } },
      ),
    );
    expect(given.map((layer) => layer['custom_properties']).filter((custom) => custom !== undefined)).toEqual([
      { b: 2 },
      { a: 1 },
      { c: 3 },
    ]);
  });
});

describe('payload fields', () => {
  it('payload fields: the resolver reads exactly the fields that the table lists as read', () => {
    const read = new Set<string>();
    const body = new Proxy(
      { event: 'E', userProperties: {} },
      {
        get(target, name) {
          read.add(String(name));
          return Reflect.get(target, name) as unknown;
        },
      },
    );
    for (const kind of ['track', 'identify'] as const) {
      const of = { ...envelope({}, { kind }), body };
      readEvent(of, rules);
      readTouch(of, 'server');
    }
    const listed = payloadFieldRows.filter(({ resolver }) => resolver !== 'unread').map(({ name }) => name as string);
    expect([...read].toSorted()).toEqual(listed.toSorted());
  });
});

describe('readPlainEvent', () => {
  const prefix = envelopePrefix({ account: 'a', source: 's', test: false });
  const optional = fc.option(fc.constantFrom('', '1.2.3.4', 'A "browser"'), { nil: undefined });
  const ctxJson = fc.option(
    fc.constantFrom(
      '{}',
      '{"defaultProperties":{"x":"é","kind":1}}',
      '{"defaultProperties":{"a":1,"b":{"kind":"c"}}}',
      '{"defaultProperties":{"a":1,"kind":"b"}}',
      '{"defaultProperties":{"ip":"9"}}',
      '{"custom_properties":{"a":1}}',
    ),
    { nil: undefined, freq: 2 },
  );
  const head = fc.record({
    ip: optional,
    ua: optional,
    bot: fc.option(fc.nat(100), { nil: undefined }),
    gpc: fc.boolean(),
    ctxJson,
  });
  const sourceRules = fc.record({ excludeRequestContext: fc.boolean(), isVisitorsConnection: fc.boolean() });

  it('readPlainEvent: an event that is copied as bytes reads the same as when it is parsed', () => {
    let taken = 0;
    fc.assert(
      fc.property(head, bodyText, sourceRules, (given, body, own) => {
        const line = envelopeLine(envelopeHead(prefix, { kind: 'track', id: 'e', at: 1_000, ...given }), body);
        const bytes = Buffer.from(line);
        const plain = readPlainEnvelope(bytes, 0, bytes.length);
        if (plain === undefined) return;
        taken += 1;
        const parsed = readEnvelope(line);
        const ofSource = { ...rules, ...own };
        const [found, expected] = [readPlainEvent(plain, ofSource), readEvent(parsed, ofSource)];
        expect(found).toMatchObject({ name: expected.name, timeMs: expected.timeMs });
        expect(expected.integrations).toBeUndefined();
        expect(found.consent).toEqual(expected.consent);
        expect(found.consent).toEqual(given.gpc && own.isVisitorsConnection ? { $gpc: true } : undefined);
        expect(propertiesOf(found)).toEqual(propertiesOf(expected));
        expect(contextOf(found)).toEqual(contextOf(expected));
        expect(readTouch(plain.envelope, 'public')).toEqual(readTouch(parsed, 'public'));
        expect(plain.envelope).toMatchObject({ id: 'e', account: 'a', source: 's', at: 1_000 });
        expect(plain.envelope.bot).toBe(parsed.bot);
        expect(plain.bodyBytes).toBe(bodyBytes(line, parsed));
      }),
      { numRuns: 2_000 },
    );
    expect(taken).toBeGreaterThan(200);
  });
});
