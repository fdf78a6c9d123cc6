import fc from 'fast-check';
import { isJsonObject } from '../../runtime/json.ts';
import type { OutboundEvent } from '../sdk/destination.ts';
import { sampleEvent } from '../sdk/sample-event.ts';
import { anyText } from '../../testing/any-text.ts';

/** Malformed events: any JSON under the names that kinds read, with and without a mapping. */
export function anyEvent(nowMs: number): fc.Arbitrary<OutboundEvent> {
  return fc
    .record({
      id: text,
      event: fc.oneof(text, fc.constantFrom('$identify', 'Order Completed', 'Page View')),
      time: fc.constantFrom(nowMs, nowMs - 1_000.2345, nowMs - 6 * 86_400_000),
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
}

/** Response bodies of platforms and of the proxies in front of them. */
export const anyAnswerBody: fc.Arbitrary<string> = fc.oneof(
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

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  anyText(),
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
    // Objects that cannot be converted to text.
    { toString: null },
    [{ toString: 'x', valueOf: 1 }],
  ),
);
const text = fc.oneof(anyText({ minLength: 1 }), fc.constantFrom('a\r\nb', '\ud800', '$', 'é'.repeat(1_000)));
const knownNames = fc.constantFrom(
  'email',
  'external_id',
  'first_name',
  'phone_number',
  'ip',
  'user_agent',
  'current_url',
  'referrer',
  'value',
  'currency',
  'items',
  'products',
  'order_id',
  'custom_properties',
  'consent',
  'client_id',
  'session_id',
  'fbclid',
  'date_of_birth',
  'gender',
  'country',
  'zip',
  'channel',
  'app_namespace',
  'device_token',
  'device_type',
  'device_ad_tracking_enabled',
  'os_version',
  '__proto__',
  'constructor',
);
const members = fc.dictionary(fc.oneof(knownNames, text), odd, { maxKeys: 8 });
