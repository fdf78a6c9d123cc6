import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sampleEvent } from '../../destinations/sdk/sample-event.ts';
import { PlanError } from './plan-error.ts';
import { compilePropertyPath } from './property-path.ts';
import type { Subject } from './property-path.ts';

const subject: Subject = {
  ...sampleEvent({
    event_properties: {
      plan: 'pro',
      total: 0,
      nothing: null,
      items: [{ price: 5 }, { price: 7 }],
      'cart.size': 3,
      cart: { total: 9 },
    },
  }),
  visitor: {
    id: 'v1',
    email: 'ada@example.com',
    consent: { marketing: false },
    custom_properties: JSON.parse('{"tier": "gold", "__proto__": "own"}') as Record<string, unknown>,
  },
};

test('property path: a name in integrations reads as a boolean, and a path below the name reads one of its options', () => {
  const event = sampleEvent({
    integrations: { All: false, GA4: true },
    context: { integrations: { GA4: { clientId: '5.7' } } },
  });
  expect(compilePropertyPath('event.integrations.All', 'map')(event)).toBe(false);
  expect(compilePropertyPath('event.integrations.GA4', 'map')(event)).toBe(true);
  expect(compilePropertyPath('event.integrations.GA4.clientId', 'map')(event)).toBe('5.7');
});

test.each([
  ['event.event', 'Order Completed'],
  ['$event.event', 'Order Completed'],
  [' event.event ', 'Order Completed'],
  ['event.time', 1_700_000_000_000],
  ['event.event_properties.plan', 'pro'],
  ['event.event_properties.total', 0],
  ['event.event_properties.nothing', null],
  ['event.event_properties.items.1.price', 7],
  ['event.event_properties.cart.total', 9],
  ['event.event_properties.cart.size', undefined],
  ['event.context.ip', '203.0.113.7'],
  ['event.default_properties.ip', '203.0.113.7'],
  ['event.request_context.ip', '203.0.113.7'],
  ['visitor.email', 'ada@example.com'],
  ['visitor.consent.marketing', false],
  ['visitor.custom_properties.tier', 'gold'],
  ['visitor.custom_properties.__proto__', 'own'],
])('property path: %s: reads %j', (path, expected) => {
  expect(compilePropertyPath(path, 'property')(subject)).toEqual(expected);
});

test.each([
  'event.event_properties.missing',
  'event.event_properties.plan.length',
  'event.event_properties.items.length',
  'event.event_properties.items.9.price',
  'event.event_properties.nothing.deeper',
  'event.event_properties.constructor',
  'event.event_properties.toString',
  'event.__proto__',
  'visitor.constructor.name',
  'visitor..email',
  'visitor.',
  'v',
  'constructor.name',
  'user.email',
  'Event.event',
])('property path: %s: leads nowhere', (path) => {
  expect(compilePropertyPath(path, 'property')(subject)).toBeUndefined();
});

test('property path: finds a property whose name contains dots if no shorter name resolves the rest of the path', () => {
  const flat = { ...subject, visitor: { ...subject.visitor, custom_properties: { 'a.b.c': 1 } } };
  expect(compilePropertyPath('visitor.custom_properties.a.b.c', 'property')(flat)).toBe(1);
  expect(compilePropertyPath('visitor.custom_properties.a.b', 'property')(flat)).toBeUndefined();
});

test.each(['', ' ', '$', '{{event.event}}', 'x'.repeat(501), Array.from({ length: 21 }, () => 'a').join('.')])(
  'property path: %j: is refused with the name of its field',
  (path) => {
    expect(() => compilePropertyPath(path, 'logic.condition.property')).toThrow(PlanError);
    expect(() => compilePropertyPath(path, 'logic.condition.property')).toThrow(/^logic\.condition\.property /);
  },
);

test('property path: reading any path of any event throws nothing but PlanError', () => {
  const path = fc.array(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'length', '0')), { maxLength: 5 });
  fc.assert(
    fc.property(path, fc.dictionary(fc.string(), fc.jsonValue()), (segments, properties) => {
      const any = sampleEvent({ event_properties: properties });
      const text = ['event', 'event_properties', ...segments].join('.');
      try {
        compilePropertyPath(text, 'property')(any);
      } catch (error) {
        expect(error).toBeInstanceOf(PlanError);
      }
    }),
  );
});

test('property path: every own property is found under its name', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z_]{1,12}$/), fc.jsonValue(), (name, value) => {
      const any = sampleEvent({ event_properties: { [name]: value } });
      expect(compilePropertyPath(`event.event_properties.${name}`, 'property')(any)).toEqual(value);
    }),
  );
});
