import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creatableDestinationTypes } from '../collections/destination-types.ts';
import { isJsonObject } from '../process/json.ts';
import { SettingError, UnfitEventError } from './define.ts';
import type { DestinationKind, OutboundEvent, OutboundRequest, PreparedDestination } from './define.ts';
import { isHeaderValue } from './header-rules.ts';
import { destinationKinds, findDestinationKind } from './registry.ts';
import { sampleEvent } from './sample-event.ts';

const nowMs = 1_700_000_001_000;

/** Secrets the platform takes nowhere but in the URL. */
const secretsInUrl: ReadonlySet<string> = new Set(['GA4MeasurementProtocol.apiSecret', 'SnapchatAdsCapi.accessToken']);
// The same cases in every run: what they are drawn from is wide, and a new one is better found on purpose.
const cases = { seed: 20_260_131, numRuns: 40 };
/** Platforms that take no time: an event counts when it arrives. */
const timeless: ReadonlySet<string> = new Set(['Plausible']);

describe.each(destinationKinds.map((kind) => [kind.descriptor.id, kind] as const))('%s', (id, kind) => {
  const prepared = kind.prepare(kind.exampleSettings);

  it('registry: has an id of its own that may be created', () => {
    expect(findDestinationKind(id)).toBe(kind);
    expect(destinationKinds.filter(({ descriptor }) => descriptor.id === id)).toHaveLength(1);
    expect(creatableDestinationTypes).toContain(id);
  });

  it('descriptor: keys are unique and named in the example', () => {
    const keys = kind.descriptor.settings.map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    for (const key of Object.keys(kind.exampleSettings)) expect(keys).toContain(key);
  });

  it('prepare: refuses settings without each required one, naming it', () => {
    for (const key of requiredKeys(kind)) {
      const rest = Object.fromEntries(Object.entries(kind.exampleSettings).filter(([name]) => name !== key));
      expect(() => kind.prepare(rest)).toThrow(SettingError);
      expect(() => kind.prepare(rest)).toThrow(key);
    }
  });

  it('prepare: settings of a wrong type are named, never an accident', () => {
    for (const { key } of kind.descriptor.settings) {
      for (const wrong of [7, true, ['x'], { x: 1 }, '\u0000\r\n'])
        attempt(() => kind.prepare({ ...kind.exampleSettings, [key]: wrong }), SettingError);
    }
  });

  it('buildRequest: one event makes a request that can be sent', () => {
    const request = prepared.buildRequest([{ resolved: sampleEvent() }], nowMs);
    checkRequest(request);
    expect(request.method === 'GET' || (request.body ?? '') !== '').toBe(true);
  });

  it('buildRequest: a repeated attempt is the same request, and a later one has the same key', () => {
    const events = [{ resolved: sampleEvent() }];
    const first = prepared.buildRequest(events, nowMs);
    expect(kind.prepare(kind.exampleSettings).buildRequest(events, nowMs)).toEqual(first);
    const key = first.headers['idempotency-key'];
    expect(key).toMatch(/^[\x21-\x7e]+$/);
    expect(prepared.buildRequest(events, nowMs + 60_000).headers['idempotency-key']).toBe(key);
  });

  it('buildRequest: takes hostile text without breaking out of the request', () => {
    const hostile = sampleEvent({ id: 'x\r\nX-Injected: 1', event: 'a\r\nb\u0000"}', event_properties: { a: '\r\n' } });
    checkRequest(prepared.buildRequest([{ resolved: hostile }], nowMs));
  });

  it('buildRequest: takes as many events as it says', () => {
    const events = Array.from({ length: prepared.batchEventsMax }, (_, i) => ({
      resolved: sampleEvent({ id: `e${i}` }),
    }));
    checkRequest(prepared.buildRequest(events, nowMs));
  });

  it('buildRequest: says when the event happened', () => {
    const at = (time: number) => prepared.buildRequest([{ resolved: sampleEvent({ time }) }], nowMs).body;
    if (timeless.has(id)) expect(at(nowMs - 3_600_000)).toBe(at(nowMs));
    else expect(at(nowMs - 3_600_000)).not.toBe(at(nowMs));
  });

  it('buildRequest: no secret stands in the URL, unless the platform takes it nowhere else', () => {
    for (const { type, key } of kind.descriptor.settings) {
      if (type !== 'Secret') continue;
      const secret = `marked-${String(kind.exampleSettings[key])}`;
      const marked = attempt(() => kind.prepare({ ...kind.exampleSettings, [key]: secret }), SettingError);
      const url = marked?.buildRequest([{ resolved: sampleEvent() }], nowMs).url ?? '';
      expect([key, decodeURIComponent(url).includes(secret)]).toEqual([key, secretsInUrl.has(`${id}.${key}`)]);
    }
  });

  it('baseUrl: where there is one, every request starts with it', () => {
    if (!kind.descriptor.settings.some(({ key }) => key === 'baseUrl')) return;
    const elsewhere = kind.prepare({ ...kind.exampleSettings, baseUrl: 'https://proxy.example.net:8443/to/' });
    for (const event of ['Order Completed', '$identify']) {
      const outbound = { resolved: sampleEvent({ event }) };
      const url = elsewhere.takes?.(outbound) === false ? undefined : urlOf(elsewhere, outbound);
      if (url !== undefined) expect(url.startsWith('https://proxy.example.net:8443/to/')).toBe(true);
    }
    expect(() => kind.prepare({ ...kind.exampleSettings, baseUrl: 'file:///etc/passwd' })).toThrow('baseUrl');
  });

  it.each(['$identify', '$experiment_impression', '$anything'])(
    '%s: is not taken, or makes a whole request',
    (event) => {
      const outbound = { resolved: sampleEvent({ event, event_properties: {} }) };
      if (prepared.takes?.(outbound) !== false) checkRequest(prepared.buildRequest([outbound], nowMs));
    },
  );

  it('property: whatever an event holds, it makes a whole request or is refused as unfit', () => {
    const origin = new URL(prepared.buildRequest([{ resolved: sampleEvent() }], nowMs).url).origin;
    fc.assert(
      fc.property(fc.array(anyEvent, { minLength: 1, maxLength: 3 }), (events) => {
        for (const event of events) {
          expect(typeof (prepared.takes?.(event) ?? true)).toBe('boolean');
          expect(typeof (prepared.groupOf?.(event) ?? '')).toBe('string');
        }
        const taken = events.filter((event) => prepared.takes?.(event) !== false).slice(0, prepared.batchEventsMax);
        const [first] = taken;
        if (first === undefined) return;
        const group = prepared.groupOf?.(first);
        const batch = taken.filter((event) => prepared.groupOf?.(event) === group);
        const request = attempt(() => prepared.buildRequest(batch, nowMs), UnfitEventError);
        if (request === undefined) return;
        checkRequest(request);
        expect(new URL(request.url).origin).toBe(origin);
      }),
      cases,
    );
  });

  it('property: whatever the platform answers, each event has one outcome, and none of a refusal is delivered', () => {
    const events = ['1', '2'].map((eventId) => ({ resolved: sampleEvent({ id: eventId }) }));
    const batch = events.slice(0, prepared.batchEventsMax);
    fc.assert(
      fc.property(fc.constantFrom(200, 202, 400, 401, 429, 500, 503), anyBody, (status, body) => {
        const outcomes = prepared.readAnswer?.({ status, headers: {}, body }, batch);
        expect(outcomes?.length ?? batch.length).toBe(batch.length);
        if (status === 401 || status >= 429) expect(outcomes ?? []).not.toContainEqual({ kind: 'delivered' });
        for (const outcome of outcomes ?? []) {
          if (outcome.kind !== 'delivered') expect(outcome.reason).toMatch(/^[^\r\n]{1,500}$/);
        }
      }),
      cases,
    );
  });
});

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '\r\nX-Injected: 1',
    '\u0000',
    '\ud800',
    '../..',
    '"}',
    "';--",
    '{{event.id}}',
    'x'.repeat(5_000),
    -0,
    1e308,
  ),
);
const text = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1 }),
  fc.constantFrom('a\r\nb', '\ud800', '$', 'é'.repeat(1_000)),
);
const knownNames = fc.constantFrom(
  ...['email', 'external_id', 'first_name', 'phone_number', 'ip', 'user_agent', 'current_url', 'referrer', 'value'],
  ...['currency', 'items', 'products', 'order_id', 'custom_properties', 'consent', 'client_id', 'session_id', 'fbclid'],
  ...['date_of_birth', 'gender', 'country', 'zip', '__proto__', 'constructor'],
);
const members = fc.dictionary(fc.oneof(knownNames, text), odd, { maxKeys: 8 });
const anyEvent: fc.Arbitrary<OutboundEvent> = fc
  .record({
    id: text,
    event: fc.oneof(text, fc.constantFrom('$identify', 'Order Completed', 'Page View')),
    time: fc.constantFrom(nowMs, nowMs - 1_000, nowMs - 6 * 86_400_000),
    properties: members,
    context: members,
    visitor: members,
    mapped: fc.option(fc.record({ eventName: text, properties: members }), { nil: undefined }),
  })
  .map(({ id, event, time, properties, context, visitor, mapped }) => {
    const { custom_properties: own, ...known } = visitor;
    const resolved = sampleEvent({ id, event, time, event_properties: properties, context });
    const custom_properties = isJsonObject(own) ? own : {};
    const whole = { ...resolved, visitor: { ...known, id, custom_properties } };
    return mapped === undefined ? { resolved: whole } : { resolved: whole, mapped };
  });
const anyBody = fc.oneof(
  fc.json({ maxDepth: 4 }),
  fc.string(),
  fc.constantFrom(
    '',
    'null',
    '{}',
    '[]',
    '<html>\r\n</html>',
    '{"errors":null}',
    '{"error":{"message":"a\\nb"}}',
    '{"data":[]}',
  ),
);

function checkRequest({ method, url, headers, body }: OutboundRequest): void {
  expect(['GET', 'POST', 'PUT', 'PATCH']).toContain(method);
  expect(url).toMatch(/^https?:\/\/[\x21-\x7e]+$/);
  expect(url.length).toBeLessThanOrEqual(16_384);
  for (const [name, value] of Object.entries(headers)) {
    expect(name).toMatch(/^[a-z0-9-]+$/);
    expect(isHeaderValue(value)).toBe(true);
  }
  expect(headers).not.toHaveProperty('x-injected');
  expect(body?.isWellFormed() ?? true).toBe(true);
  if (/json/.test(headers['content-type'] ?? '')) expect(() => JSON.parse(body ?? '') as unknown).not.toThrow();
}

/** The result, or nothing where it was refused as it may be. */
function attempt<Result>(
  make: () => Result,
  refusal: typeof UnfitEventError | typeof SettingError,
): Result | undefined {
  try {
    return make();
  } catch (error) {
    expect(error).toBeInstanceOf(refusal);
    return undefined;
  }
}

function urlOf(prepared: PreparedDestination, event: OutboundEvent): string | undefined {
  return attempt(() => prepared.buildRequest([event], nowMs), UnfitEventError)?.url;
}

function requiredKeys({ descriptor }: DestinationKind): string[] {
  return descriptor.settings.flatMap((setting) =>
    'required' in setting && setting.required === true ? [setting.key] : [],
  );
}
