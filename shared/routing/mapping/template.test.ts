import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sampleEvent } from '../../destinations/sdk/sample-event.ts';
import { PlanError } from '../values/plan-error.ts';
import { jsonDepthCeiling } from '../../runtime/json-depth.ts';
import { compileTemplate, writeValue } from './template.ts';

const subject = sampleEvent({
  event_properties: { total: 42.5, paid: true, none: null, items: [{ sku: 'a' }], text: 'x {{visitor.email}}' },
});

test.each<[string, unknown]>([
  ['', ''],
  ['purchase', 'purchase'],
  ['{{event.event}}', 'Order Completed'],
  ['{{ $event.event }}', 'Order Completed'],
  ['{{event.event_properties.total}}', 42.5],
  ['{{event.event_properties.paid}}', true],
  ['{{event.event_properties.none}}', null],
  ['{{event.event_properties.items}}', [{ sku: 'a' }]],
  ['{{event.event_properties.missing}}', undefined],
  ['{{visitor.custom_properties.plan}}', 'pro'],
  [' {{event.event_properties.total}}', ' 42.5'],
  ['{{visitor.first_name}} <{{visitor.email}}>', 'Ada <ada@example.com>'],
  ['[{{event.event_properties.missing}}|{{event.event_properties.none}}]', '[|]'],
  ['items: {{event.event_properties.items}}', 'items: [{"sku":"a"}]'],
  ['{{event.event_properties.text}}!', 'x {{visitor.email}}!'],
  ['{"total":{{event.event_properties.total}}}', '{"total":42.5}'],
  ['{{{visitor.first_name}}}', '{Ada}'],
  ['{{ {{visitor.first_name}}', '{{ Ada'],
  ['{{visitor.first_name', '{{visitor.first_name'],
  ['visitor.first_name}}', 'visitor.first_name}}'],
  ['{visitor.first_name}', '{visitor.first_name}'],
])('template: %s: becomes %j', (template, expected) => {
  expect(compileTemplate(template, 'map').render(subject)).toEqual(expected);
});

test('template: renderText writes values with the encoding of its caller', () => {
  const template = compileTemplate('/t?e={{event.event}}&x={{event.event_properties.missing}}', 'url');
  expect(template.renderText(subject, (value) => encodeURIComponent(writeValue(value)))).toBe(
    '/t?e=Order%20Completed&x=',
  );
  expect(compileTemplate('{{event.event_properties.total}}', 'url').renderText(subject)).toBe('42.5');
});

test.each(['{{}}', 'a {{ }} b', 'x'.repeat(10_001), '{{visitor.id}}'.repeat(101)])(
  'template: %.20s: is refused with the name of its field',
  (template) => {
    expect(() => compileTemplate(template, 'mappings[0].map')).toThrow(PlanError);
    expect(() => compileTemplate(template, 'mappings[0].map')).toThrow(/^mappings\[0\]\.map /);
  },
);

test('template: text without double braces is rendered unchanged', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      fc.pre(!text.includes('{{'));
      expect(compileTemplate(text, 'map').render(subject)).toBe(text);
    }),
  );
});

test('template: a placeholder alone renders any JSON value unchanged, and a placeholder beside text renders text', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const event = sampleEvent({ event_properties: { value } });
      expect(compileTemplate('{{event.event_properties.value}}', 'map').render(event)).toEqual(value);
      expect(compileTemplate('{{event.event_properties.value}}.', 'map').render(event)).toBeTypeOf('string');
    }),
  );
});

test.each([
  [jsonDepthCeiling, true],
  [jsonDepthCeiling + 1, false],
  [100_000, false],
])('template: a value of %i levels is written: %s', (levels, isWritten) => {
  let deep: unknown = 1;
  for (let level = 0; level < levels; level += 1) deep = level % 2 === 0 ? [deep] : { a: deep };
  const event = sampleEvent({ event_properties: { deep } });
  const text = compileTemplate('<{{event.event_properties.deep}}>', 'map').renderText(event);
  expect(text).toBe(isWritten ? `<${JSON.stringify(deep)}>` : '<>');
});
