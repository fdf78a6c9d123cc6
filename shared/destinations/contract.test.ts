import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { destinationKinds, findDestinationKind } from './registry.ts';
import { requestsInTurn } from './sdk/request-content.ts';
import { skipReason } from './sdk/skip-reason.ts';
import { UnfitEventError } from './sdk/destination.ts';
import { SettingError } from './sdk/settings.ts';
import type { DestinationKind, OutboundEvent, OutboundRequest, PreparedDestination } from './sdk/destination.ts';
import type { JsonObject } from '../runtime/json.ts';
import { isHeaderValue } from './sdk/header-rules.ts';
import { sampleEventFor } from './sdk/sample-event.ts';
import type { ResolvedEvent } from '../contracts/events/resolved-event.ts';
import { anyAnswerBody, anyEvent } from './testing/hostile.ts';
import { sampleVisit } from './testing/sample-visit.ts';

const nowMs = 1_700_000_001_000;

/** Secrets, by kind and setting, that the platform accepts only in the URL. */
const secretsInUrl: ReadonlySet<string> = new Set([
  'Admitad.postbackKey',
  'FloodlightSGTM.apiSecret',
  'GA4MeasurementProtocol.apiSecret',
  'GA4ServerProxy.apiSecret',
  'GoogleAdsServerContainer.apiSecret',
  'SnapchatAdsCapi.accessToken',
]);
// A fixed seed: every run tests the same cases, so that no unrelated change fails on a newly drawn case.
const cases = { seed: 20_260_131, numRuns: 40 };
/** Kinds that send the event as stored in the log, including the `sender` member of its context. */
const canonical: ReadonlySet<string> = new Set([
  'AWSKinesis',
  'AWSLambda',
  'AWSSNS',
  'AWSSQS',
  'AmazonEventBridge',
  'AzureEventHubs',
  'GooglePubSub',
  'HTTPDestination',
  'Kafka',
  'RedisStreams',
]);
/** Platforms that accept no event time and use the time of arrival. */
const timeless: ReadonlySet<string> = new Set([
  'ActiveCampaignApi',
  'Admitad',
  'BasisPostback',
  'BeeswaxPostback',
  'ConvertABTestingEvent',
  'Everflow',
  'IHeartMediaMagellan',
  'Outbrain',
  'Partnerize',
  'Plausible',
  'Slack',
  'StackAdaptAPI',
  'TheTradeDesk',
  'ZohoCRM',
]);

it.each(destinationKinds.map((kind) => [kind.descriptor.id, kind] as const))(
  'platforms: %s has a scripted one, which knows the address it sends to',
  async (_id, kind) => {
    const request = kind.prepare(kind.exampleSettings).buildRequest([{ resolved: sampleEventFor(kind) }], nowMs);
    expect((await kind.loadPlatform()).endpointOf(request)).toBeDefined();
  },
);

describe.each(destinationKinds.map((kind) => [kind.descriptor.id, kind] as const))('%s', (id, kind) => {
  const prepared = kind.prepare(kind.exampleSettings);
  const sampleEvent = (own: Partial<ResolvedEvent['event']> = {}): ResolvedEvent => sampleEventFor(kind, own);

  it('registry: the kind has an id of its own', () => {
    expect(findDestinationKind(id)).toBe(kind);
    expect(destinationKinds.filter(({ descriptor }) => descriptor.id === id)).toHaveLength(1);
  });

  it('descriptor: keys are unique, and the example names no other keys', () => {
    const keys = kind.descriptor.settings.map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    for (const key of Object.keys(kind.exampleSettings)) expect(keys).toContain(key);
  });

  it('facts: are complete, and agree with what the kind sends', () => {
    const { sends, limits, deduplicatesBy, errors, sources, checked } = kind.facts;
    for (const text of [sends, errors]) expect(text.length).toBeGreaterThan(5);
    for (const source of sources) expect(source).toMatch(/^https:\/\/[^\s|]+$/);
    expect(checked).toMatch(/^20\d\d-[01]\d-[0-3]\d$/);
    expect(Number.isNaN(Date.parse(checked))).toBe(false);
    expect(prepared.batchEventsMax).toBeLessThanOrEqual(limits.events);
    const event = sampleVisit(nowMs);
    const { url, headers, body = '' } = prepared.buildRequest([event], nowMs);
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(limits.bytes ?? Infinity);
    if (deduplicatesBy !== undefined) expect(`${url} ${JSON.stringify(headers)} ${body}`).toContain(deduplicatesBy);
    if (limits.ageDays !== undefined) {
      const old = sampleVisit(nowMs - (limits.ageDays + 1) * 86_400_000);
      expect(() => prepared.buildRequest([old], nowMs)).toThrow(UnfitEventError);
    }
  });

  it('facts: the API version of the requests does not end within 60 days', () => {
    const { version } = kind.facts;
    if (version === 'unversioned') return;
    const { url, headers, body = '' } = prepared.buildRequest([{ resolved: sampleEvent() }], nowMs);
    expect(`${url} ${JSON.stringify(headers)} ${body}`).toContain(version.name);
    if (version.ends === undefined) return;
    expect(version.ends).toMatch(/^20\d\d-[01]\d-[0-3]\d$/);
    // Compares with today's date on purpose: when this fails, two months are left to move the kind to a later version.
    expect(Date.parse(version.ends) - Date.now()).toBeGreaterThan(60 * 86_400_000);
  });

  it('calls: a call that is skipped has a reason', () => {
    for (const event of ['$identify', '$group', '$alias']) {
      const outbound = {
        resolved: sampleEvent({ event, event_properties: { group_id: 'g', id: 'a', previous_id: 'b' } }),
      };
      if (prepared.accepts?.(outbound) !== false) continue;
      expect(skipReason(kind.facts, outbound)).toMatch(/^\S.{10,}[^.]$/);
    }
  });

  it('prepare: refuses settings that lack a required setting, and names that setting', () => {
    for (const key of requiredKeys(kind)) {
      const rest = Object.fromEntries(Object.entries(kind.exampleSettings).filter(([name]) => name !== key));
      expect(() => kind.prepare(rest)).toThrow(SettingError);
      expect(() => kind.prepare(rest)).toThrow(key);
    }
  });

  it('prepare: a setting of a wrong type is accepted or causes a SettingError, never another error', () => {
    for (const { key } of kind.descriptor.settings) {
      for (const wrong of [7, true, ['x'], { x: 1 }, '\u0000\r\n']) {
        const prepare = () => kind.prepare({ ...kind.exampleSettings, [key]: wrong });
        expect(attempt(prepare, SettingError)?.batchEventsMax ?? 1).toBeGreaterThan(0);
      }
    }
  });

  it('settings: with every choice of a setting, the platform accepts an order and an identify', async () => {
    const platform = await kind.loadPlatform();
    const choices = kind.descriptor.settings.flatMap((setting): (readonly [key: string, value: string | boolean])[] => {
      if (setting.type === 'Select') return setting.options.map(({ value }) => [setting.key, value]);
      return setting.type === 'Switch' ? [[setting.key, true]] : [];
    });
    for (const [key, value] of choices) {
      // Undefined if the choice requires another setting that the example does not have.
      const chosen = attempt(() => kind.prepare({ ...kind.exampleSettings, [key]: value }), SettingError);
      for (const event of ['Order Completed', '$identify']) {
        // Clients may send a time with a fraction of a millisecond; many platforms accept only whole numbers.
        const outbound = { resolved: sampleEvent({ event, time: nowMs - 1_000.2345 }) };
        if (chosen === undefined || chosen.accepts?.(outbound) === false) continue;
        const request = attempt(() => chosen.buildRequest([outbound], nowMs), UnfitEventError);
        for (const one of request === undefined ? [] : requestsInTurn(request)) {
          expect([key, value, platform.judge(one, { nowMs }).problems]).toEqual([key, value, []]);
        }
      }
    }
  });

  it('buildRequest: an order without a currency is sent', () => {
    const { currency: _currency, ...order } = sampleEvent().event.event_properties;
    const outbound = { resolved: sampleEvent({ event: 'Order Completed', event_properties: order }) };
    if (prepared.accepts?.(outbound) === false) return;
    expect(flawsOf(prepared.buildRequest([outbound], nowMs))).toEqual([]);
  });

  it('buildRequest: one event makes a request that can be sent', () => {
    const request = prepared.buildRequest([{ resolved: sampleEvent() }], nowMs);
    expect(flawsOf(request)).toEqual([]);
    expect(request.method === 'GET' || (request.body ?? '') !== '').toBe(true);
  });

  it('buildRequest: a repeated attempt is the same request, and a later attempt has the same idempotency key', () => {
    const events = [{ resolved: sampleEvent() }];
    const first = prepared.buildRequest(events, nowMs);
    expect(kind.prepare(kind.exampleSettings).buildRequest(events, nowMs)).toEqual(first);
    const key = first.headers['idempotency-key'];
    expect(key).toMatch(/^[\x21-\x7e]+$/);
    expect(prepared.buildRequest(events, nowMs + 60_000).headers['idempotency-key']).toBe(key);
  });

  it('buildRequest: takes hostile text without breaking out of the request', () => {
    const hostile = sampleEvent({ id: 'x\r\nX-Injected: 1', event: 'a\r\nb\u0000"}', event_properties: { a: '\r\n' } });
    if (prepared.accepts?.({ resolved: hostile }) === false) return;
    expect(flawsOf(prepared.buildRequest([{ resolved: hostile }], nowMs))).toEqual([]);
  });

  it('buildRequest: accepts as many events as the batch size of the kind', () => {
    const events = Array.from({ length: prepared.batchEventsMax }, (_, i) => ({
      resolved: sampleEvent({ id: `e${i}` }),
    }));
    expect(flawsOf(prepared.buildRequest(events, nowMs))).toEqual([]);
  });

  it('buildRequest: the request contains the time of the event, if the platform accepts a time', () => {
    const at = (time: number): string => {
      const { url, body = '' } = prepared.buildRequest([{ resolved: sampleEvent({ time }) }], nowMs);
      return `${url} ${body}`;
    };
    if (timeless.has(id)) expect(at(nowMs - 3_600_000)).toBe(at(nowMs));
    else expect(at(nowMs - 3_600_000)).not.toBe(at(nowMs));
  });

  it('buildRequest: the connection of the server that sent the event is not sent as that of the visitor', () => {
    const sender = { ip: '192.0.2.199', user_agent: 'calling-server/9' };
    const outbound = { resolved: sampleEvent({ context: { ...sampleEvent().event.context, sender } }) };
    const { url, headers, body = '' } = prepared.buildRequest([outbound], nowMs);
    expect(url + JSON.stringify(headers) + (canonical.has(id) ? '' : body)).not.toMatch(
      /192\.0\.2\.199|calling-server/,
    );
  });

  it('buildRequest: no secret is in the URL, unless the platform accepts it only there', () => {
    for (const { type, key } of kind.descriptor.settings) {
      if (type !== 'Secret') continue;
      const secret = `marked-${String(kind.exampleSettings[key])}`;
      const marked = attempt(() => kind.prepare({ ...kind.exampleSettings, [key]: secret }), SettingError);
      const url = marked?.buildRequest([{ resolved: sampleEvent() }], nowMs).url ?? '';
      expect([key, decodeURIComponent(url).includes(secret)]).toEqual([key, secretsInUrl.has(`${id}.${key}`)]);
    }
  });

  it('baseUrl: if the kind has this setting, every request starts with it', () => {
    if (!kind.descriptor.settings.some(({ key }) => key === 'baseUrl')) return;
    const elsewhere = kind.prepare({ ...kind.exampleSettings, baseUrl: 'https://proxy.example.net:8443/to/' });
    for (const event of ['Order Completed', '$identify']) {
      const outbound = { resolved: sampleEvent({ event }) };
      const url = elsewhere.accepts?.(outbound) === false ? undefined : urlOf(elsewhere, outbound);
      if (url !== undefined) expect(url.startsWith('https://proxy.example.net:8443/to/')).toBe(true);
    }
    expect(() => kind.prepare({ ...kind.exampleSettings, baseUrl: 'file:///etc/passwd' })).toThrow('baseUrl');
  });

  it('addresses: the listed addresses change with every setting that changes the server of requests or token requests', () => {
    const places = ['https://elsewhere.example.net', 'http://elsewhere.example.net:81', 'elsewhere.example.net'];
    /** The servers of requests and token requests; undefined for an event that is not sent. */
    const originsOf = (settings: JsonObject): readonly (string | undefined)[] => {
      const made = attempt(() => kind.prepare(settings), SettingError);
      return [sampleEvent(), sampleEvent({ event: '$identify' })].flatMap((resolved) => {
        if (made === undefined || made.accepts?.({ resolved }) === false) return [undefined, undefined];
        const request = attempt(() => made.buildRequest([{ resolved }], nowMs), UnfitEventError);
        return [request?.url, request?.oauth?.grant.tokenUrl].map((url) =>
          url === undefined ? undefined : serverOf(url),
        );
      });
    };
    const origins = originsOf(kind.exampleSettings);
    let moved = 0;
    for (const setting of kind.descriptor.settings) {
      if (setting.type !== 'Text' && setting.type !== 'Select') continue;
      const elsewhere = String(kind.exampleSettings[setting.key]).replace(
        /(?<=^[a-z]+:\/\/)[^/?]+/,
        'elsewhere.example.net',
      );
      const texts = [...places, elsewhere, 'us-west-2'];
      const values = setting.type === 'Select' ? setting.options.map(({ value }) => value) : texts;
      for (const value of [...values, null]) {
        const changed = { ...kind.exampleSettings, [setting.key]: value };
        const next = originsOf(changed);
        const isMoved = next.some((one, at) => one !== undefined && origins[at] !== undefined && one !== origins[at]);
        if (!isMoved) continue;
        moved += 1;
        const [before, after] = [kind.exampleSettings, changed].map((given) => kind.addresses(given)[setting.key]);
        expect([setting.key, value, after]).not.toEqual([setting.key, value, before]);
      }
    }
    expect(moved).toBeGreaterThan(0);
  });

  it.each(['$identify', '$experiment_impression', '$anything'])(
    '%s: is skipped, or makes a complete request',
    (event) => {
      const outbound = { resolved: sampleEvent({ event, event_properties: {} }) };
      const isTaken = prepared.accepts?.(outbound) !== false;
      expect(isTaken ? flawsOf(prepared.buildRequest([outbound], nowMs)) : []).toEqual([]);
    },
  );

  it('property: any event makes a complete request or is refused as unfit', () => {
    const server = serverOf(prepared.buildRequest([{ resolved: sampleEvent() }], nowMs).url);
    fc.assert(
      fc.property(fc.array(anyEvent(nowMs), { minLength: 1, maxLength: 3 }), (events) => {
        for (const event of events) {
          expect(typeof (prepared.accepts?.(event) ?? true)).toBe('boolean');
          expect(typeof (prepared.groupOf?.(event) ?? '')).toBe('string');
        }
        const taken = events.filter((event) => prepared.accepts?.(event) !== false).slice(0, prepared.batchEventsMax);
        const [first] = taken;
        if (first === undefined) return;
        const group = prepared.groupOf?.(first);
        const batch = taken.filter((event) => prepared.groupOf?.(event) === group);
        const request = attempt(() => prepared.buildRequest(batch, nowMs), UnfitEventError);
        if (request === undefined) return;
        expect(flawsOf(request)).toEqual([]);
        expect(serverOf(request.url)).toBe(server);
      }),
      cases,
    );
  });

  it('readAnswer: the platform’s answer to an accepted event means delivered', () => {
    const events = [{ resolved: sampleEvent() }];
    const answer = { headers: {}, ...(kind.exampleSuccess ?? { status: 200, body: '' }) };
    expect(prepared.readAnswer?.(answer, events) ?? [{ kind: 'delivered' }]).toEqual([{ kind: 'delivered' }]);
  });

  it('property: whatever the platform answers, each event has one outcome; a 401, 429 or 5xx delivers none', () => {
    const events = ['1', '2'].map((eventId) => ({ resolved: sampleEvent({ id: eventId }) }));
    const batch = events.slice(0, prepared.batchEventsMax);
    fc.assert(
      fc.property(fc.constantFrom(200, 202, 400, 401, 429, 500, 503), anyAnswerBody, (status, body) => {
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

/** Protocol, host and port; unlike `origin`, also for protocols other than HTTP. */
function serverOf(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

/** Defects that no platform would accept, in a request and its follow-up requests. */
function flawsOf({ method, url, headers, body, next }: OutboundRequest): readonly string[] {
  const flaws: string[] = [];
  const must = (holds: boolean, flaw: string): void => void (holds || flaws.push(flaw));
  must(['GET', 'POST', 'PUT', 'PATCH'].includes(method), `method ${method}`);
  must(
    /^(https?|kafkas?|rediss?|smtps?|smtp\+starttls):\/\/[\x21-\x7e]+$/.test(url) &&
      URL.canParse(url) &&
      url.length <= 16_384,
    `URL ${url}`,
  );
  for (const [name, value] of Object.entries(headers)) {
    must(/^[a-z0-9-]+$/.test(name) && isHeaderValue(value), `header ${name}`);
  }
  must(!('x-injected' in headers), 'an injected header');
  must(body?.isWellFormed() ?? true, 'a lone surrogate');
  must(!/json/.test(headers['content-type'] ?? '') || isJson(body ?? ''), 'a body that is no JSON');
  return next === undefined ? flaws : [...flaws, ...flawsOf(next)];
}

function isJson(body: string): boolean {
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
}

/** Returns the result; undefined if `make` threw a `refusal`. Any other error fails the test. */
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
