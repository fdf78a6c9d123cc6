import { expect, test } from 'vitest';
import { gauge } from './define-metric.ts';
import { headText, histogramText, seriesText } from './series-text.ts';

test('series text: a head escapes what would break its line, and nothing else', () => {
  const definition = gauge('sluice_a', String.raw`back\slash, "quotes"` + '\nand a line');
  const help = String.raw`back\\slash, "quotes"\nand a line`;
  expect(headText(definition)).toBe(`# HELP sluice_a ${help}\n# TYPE sluice_a gauge`);
});

test('series text: a value of a label escapes backslashes, line breaks and quotes', () => {
  const text = seriesText('sluice_a', 1, { one: `a"b\\c\nd`, two: 2 });
  expect(text).toBe(String.raw`sluice_a{one="a\"b\\c\nd",two="2"} 1`);
});

test.each([
  [0.5, '0.5'],
  [1e21, '1e+21'],
  [Number.NaN, 'NaN'],
  [Number.POSITIVE_INFINITY, '+Inf'],
  [Number.NEGATIVE_INFINITY, '-Inf'],
])('series text: %d is written %s', (value, text) => {
  expect(seriesText('sluice_a', value)).toBe(`sluice_a ${text}`);
});

test('series text: a histogram without labels of its own has the bounds alone', () => {
  expect(histogramText('sluice_h', [1, 2], [3, 0, 1, 9.5])).toEqual([
    'sluice_h_bucket{le="1"} 3',
    'sluice_h_bucket{le="2"} 3',
    'sluice_h_bucket{le="+Inf"} 4',
    'sluice_h_sum 9.5',
    'sluice_h_count 4',
  ]);
});
