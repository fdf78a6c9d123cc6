import { expect, test } from 'vitest';
import { fieldWords, settingOf, valueWords } from './field-words.ts';

test.each([
  ['settings.pixelId', 'Pixel id'],
  ['settings.accessToken', 'Access token'],
  ['settings.api_url', 'API URL'],
  ['status', 'Status'],
  ['isEnabled', 'Enabled'],
  ['destinationId', 'Destination'],
  ['destinationIds', 'Destinations'],
  ['limitedToSourceIds', 'Sources'],
  ['mappings[total].map', 'Property total: value'],
  ['mappings[order.id]', 'Property order.id'],
  ['categories[EU only].logic', 'Rule EU only: conditions'],
  ['signals.oneTrust', 'Signals: one trust'],
  ['settings', 'Settings'],
])('words of fields: %s is “%s”', (path, words) => {
  expect(fieldWords(path)).toBe(words);
});

test('words of fields: a setting of a destination has the label and the choices of its form', () => {
  const order = {
    key: 'order',
    type: 'Select',
    label: 'Order of events',
    options: [{ label: 'By visitor', value: 'visitor' }],
    sublabel: null,
    required: null,
    defaultValue: null,
  } as const;
  const setting = settingOf('settings.order', [order]);
  expect([fieldWords('settings.order', setting), valueWords('visitor', {}, setting)]).toEqual([
    'Order of events',
    'By visitor',
  ]);
  expect(settingOf('settings.order.of', [order])).toBeUndefined();
});

test.each([
  ['********', 'a secret'],
  [null, 'nothing'],
  ['', '(empty)'],
  [true, 'yes'],
  ['d1', 'Loyalty'],
  [['d1', 'd2'], 'Loyalty, d2'],
  [{ a: 1 }, '{"a":1}'],
])('words of values: %j is “%s”', (value, words) => {
  expect(valueWords(value, { d1: 'Loyalty' })).toBe(words);
});
