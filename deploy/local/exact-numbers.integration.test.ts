import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRouteRig } from '../../gateway/testing/route-rig.ts';
import type { RouteRig } from '../../gateway/testing/route-rig.ts';
import { testSources } from '../../gateway/testing/test-sources.ts';
import { encodeEvent, encodeVisitor } from '../../pipeline/workers/resolve/encode-event.ts';
import { readEvent, readPlainEvent } from '../../pipeline/workers/resolve/read-event.ts';
import { readTouch } from '../../pipeline/workers/resolve/read-touch.ts';
import { openResolvePlan } from '../../pipeline/workers/resolve/resolve-plan.ts';
import { readEnvelope } from '../../shared/contracts/events/envelope.ts';
import { readPlainEnvelope } from '../../shared/contracts/events/plain-envelope.ts';
import { parseResolved, resolvedLine } from '../../shared/contracts/events/resolved-event.ts';
import { ResolvedFrame } from '../../shared/contracts/events/resolved-frame.ts';
import { httpDestination } from '../../shared/destinations/http-destination/destination.ts';
import { ByteWriter } from '../../shared/json/byte-writer.ts';
import { compileMappings } from '../../shared/routing/mapping/apply-mapping.ts';
import { VisitorProperties } from '../../shared/visitors/visitor-properties.ts';

let rig: RouteRig;
beforeAll(async () => {
  rig = await startRouteRig();
});
afterAll(() => rig.stop());

const { token } = testSources.server;
const hook = testSources.hook.token;

/** Numbers as JSON text, among them some that a double cannot represent exactly. */
const number = fc.oneof(
  fc.constantFrom(
    '23851234567890123',
    '23851234567890124',
    '12345678901234567890',
    '-0',
    '1.0',
    '1e400',
    '-12.50',
    '7',
  ),
  fc.tuple(fc.bigInt({ min: 0n }), fc.constantFrom('', '.10', 'E5')).map(([whole, end]) => `${whole}${end}`),
);
const numbers = fc.record({ a: number, b: number, c: number });
type Numbers = { readonly a: string; readonly b: string; readonly c: string };

const objectOf = ({ a, b, c }: Numbers): string => `{"a":${a},"more":{"b":[${b}]},"c":${c}}`;
/** A `\u` escape: an event with it is not plain, so the gateway parses it. */
const parsed = '"text":"\\u0041"';

/**
 * For each route for events, a function that makes a path and a body whose event has the given properties (JSON text).
 */
const ways: Readonly<
  Record<string, (properties: string, id: string) => { readonly path: string; readonly body: string }>
> = {
  'a plain track': (properties, id) => ({
    path: '/api/v1/track',
    body: `{"token":"${token}","event":"N","distinctId":"${id}","properties":${properties},"defaultProperties":${properties}}`,
  }),
  'a track that is parsed': (properties, id) => ({
    path: '/api/v1/track',
    body: `{"token":"${token}","event":"N","distinctId":"${id}","userId":"u",${parsed},"properties":{},"eventProperties":${properties},"defaultProperties":${properties}}`,
  }),
  'a batch whose context counts for its rows': (properties, id) => ({
    path: '/api/v1/batch',
    body: `{"token":"${token}","defaultProperties":${properties},"events":[{"event":"N","distinctId":"${id}","properties":${properties}}]}`,
  }),
  'a batch with a row that is parsed': (properties, id) => ({
    path: '/api/v1/batch',
    body: `{"token":"${token}","defaultProperties":${properties},"events":[{"event":"N","distinctId":"${id}",${parsed},"properties":${properties}}]}`,
  }),
  "Segment's batch": (properties, id) => ({
    path: '/v1/batch',
    body: `{"writeKey":"${token}","batch":[{"type":"track","event":"N","messageId":"${id}","userId":"u","properties":${properties},"context":{"direct":${properties}}}]}`,
  }),
  "Segment's batch with a numeric id, which is parsed": (properties, id) => ({
    path: '/v1/batch',
    body: `{"writeKey":"${token}","batch":[{"type":"track","event":"N","messageId":"${id}","userId":5,"properties":${properties},"context":{"direct":${properties}}}]}`,
  }),
  "RudderStack's page": (properties, id) => ({
    path: '/v1/page',
    body: `{"writeKey":"${token}","messageId":"${id}","anonymousId":"u","properties":${properties},"context":{"direct":${properties}}}`,
  }),
  "PostHog's batch": (properties, id) => ({
    path: '/batch/',
    body: `{"api_key":"${token}","batch":[{"event":"N","uuid":"${id}","distinct_id":"u","properties":${properties}}]}`,
  }),
  "PostHog's event with a numeric id": (properties, id) => ({
    path: '/i/v0/e/',
    body: `{"api_key":"${token}","event":"N","uuid":"${id}","distinct_id":77,"properties":${properties}}`,
  }),
  'a webhook': (properties, id) => ({ path: `/webhook/${hook}?event=N&distinctId=${id}`, body: properties }),
};

const copyAll = compileMappings(
  [
    {
      id: 'm',
      priority: 1,
      isEnabled: true,
      logic: null,
      action: 'send',
      eventName: null,
      others: 'omit',
      mappings: [
        { property: 'a', map: '{{event.event_properties.a}}' },
        { property: 'more', map: '{{event.event_properties.more}}' },
        { property: 'deep.c', map: '{{event.event_properties.c}}' },
      ],
    },
  ],
  undefined,
);
const sender = httpDestination.prepare({ httpDestinationUrl: 'https://example.com' });

/** Bodies that the HTTP destination gets for the event in a line of the log, with and without a mapping. */
function bodiesOf(line: string): { readonly own: string; readonly mapped: string } {
  const bytes = Buffer.from(line);
  const rules = openResolvePlan.sourceRules('any');
  const plain = readPlainEnvelope(bytes, 0, bytes.length);
  const envelope = plain?.envelope ?? readEnvelope(line);
  const writer = new ByteWriter(1_024);
  encodeEvent(writer, envelope, plain === undefined ? readEvent(envelope, rules) : readPlainEvent(plain, rules), 1);
  const visitor = encodeVisitor('v', new VisitorProperties({}));
  const text = resolvedLine('v', Buffer.from(writer.copy()).toString('utf8'), visitor);
  const frame = new ResolvedFrame(Buffer.from(`${text}\n`));
  const head = frame.headAt(0);
  if (head === undefined) throw new Error('the head of a line could not be read');
  const outbound = { resolved: parseResolved(frame.lineAt(0)), json: frame.eventJsonAt(0, head) };
  const outcome = copyAll(outbound.resolved);
  if (outcome.kind !== 'send') throw new Error('the mapping does not apply');
  const bodyOf = (event: Parameters<typeof sender.buildRequest>[0][number]): string =>
    sender.buildRequest([event], 0).body ?? '';
  return { own: bodyOf(outbound), mapped: bodyOf({ ...outbound, mapped: outcome }) };
}

async function post({ path, body }: { readonly path: string; readonly body: string }): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  return (await fetch(`${rig.gateway.url}${path}`, { method: 'POST', headers, body })).status;
}

async function lineOf(id: string): Promise<string> {
  const line = (await rig.log.rawFrames()).split('\n').find((text) => text.includes(id));
  if (line === undefined) throw new Error(`no line of the log has ${id}`);
  return line;
}

let events = 0;
test.each(Object.keys(ways))('exact numbers: those of %s reach the HTTP destination as they came', async (way) => {
  await fc.assert(
    fc.asyncProperty(numbers, async (given) => {
      events += 1;
      const id = `exact-${events}-${'x'.repeat(8)}`;
      const properties = objectOf(given);
      const request = ways[way]?.(properties, id);
      expect(request && (await post(request))).toBe(200);
      const { own, mapped } = bodiesOf(await lineOf(id));
      const members = properties.slice(1, -1);
      expect(own).toContain(`"event_properties":{${members}`);
      if (!/PostHog|webhook/.test(way)) expect(own.split(members)).toHaveLength(3);
      expect(mapped).toContain(`{"a":${given.a},"more":{"b":[${given.b}]},"deep":{"c":${given.c}}}`);
    }),
    { numRuns: 12 },
  );
});

test.each([
  [
    '/v1/identify',
    (id: string, at: string) => `{"writeKey":"${token}","userId":${at},"messageId":"${id}","traits":{"phone":${at}}}`,
  ],
  [
    '/v1/batch',
    (id: string, at: string) =>
      `{"writeKey":"${token}","batch":[{"type":"track","event":"E","anonymousId":"d","userId":${at},"messageId":"${id}"}]}`,
  ],
  [
    '/batch/',
    (id: string, at: string) => `{"api_key":"${token}","batch":[{"event":"E","distinct_id":${at},"uuid":"${id}"}]}`,
  ],
] as const)('exact numbers: two numbers are two people at %s', async (path, body) => {
  for (const digits of ['23851234567890123', '23851234567890124', '12345678901234567890']) {
    const id = `person${path.replaceAll('/', '-')}${digits}`;
    expect(await post({ path, body: body(id, digits) })).toBe(200);
    const { touch } = readTouch(readEnvelope(await lineOf(id)), 'server');
    expect(touch.claim.externalIds).toEqual([digits]);
    if (path === '/v1/identify') expect(touch.given).toContainEqual({ phone_number: digits });
  }
});
