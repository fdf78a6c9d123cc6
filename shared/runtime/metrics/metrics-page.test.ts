import { expect, test } from 'vitest';
import { BucketCounts, addNumbers } from './bucket-counts.ts';
import { counter, gauge, histogram } from './define-metric.ts';
import { MetricsPage, headText, histogramText, seriesText } from './metrics-page.ts';

const taken = counter('sluice_taken_events_total', 'Events taken', ['kind']);
const open = gauge('sluice_open_requests', 'Open requests');
const took = histogram('sluice_took_seconds', 'How long it took', [0.1, 1], ['route']);

test('metrics page: shows the counts at the moment of the scrape', async () => {
  const counts = new Map([['a', 0]]);
  const page = new MetricsPage();
  page.show(taken, (add) => {
    for (const [kind, count] of counts) add(count, { kind });
  });
  page.show(open, (add) => add(3));
  const first = await page.text();
  expect(first).toContain('# HELP sluice_taken_events_total Events taken\n# TYPE sluice_taken_events_total counter\n');
  expect(first).toContain('sluice_taken_events_total{kind="a"} 0\n');
  expect(first).toMatch(/^sluice_open_requests 3$/m);
  counts.delete('a');
  counts.set('b"c', 7);
  const second = await page.text();
  expect(second).not.toContain('kind="a"');
  expect(second).toContain(String.raw`sluice_taken_events_total{kind="b\"c"} 7`);
});

test('metrics page: a histogram shows rising buckets, the sum and the count', async () => {
  const counts = new BucketCounts(took.bounds);
  for (const seconds of [0.05, 0.1, 0.5, 3]) counts.observe(seconds);
  counts.observe(0.5, 2);
  const page = new MetricsPage();
  page.showHistogram(took, (add) => add(counts.numbers, { route: 'track' }));
  const text = await page.text();
  expect(text).toContain('# TYPE sluice_took_seconds histogram');
  const lines = text.split('\n').filter((line) => line.startsWith('sluice_took'));
  expect(lines).toEqual([
    'sluice_took_seconds_bucket{le="0.1",route="track"} 2',
    'sluice_took_seconds_bucket{le="1",route="track"} 5',
    'sluice_took_seconds_bucket{le="+Inf",route="track"} 6',
    'sluice_took_seconds_sum{route="track"} 4.65',
    'sluice_took_seconds_count{route="track"} 6',
  ]);
});

test('metrics page: the same metric twice is refused', () => {
  const page = new MetricsPage();
  page.show(open, (add) => add(1));
  expect(() => page.show(open, (add) => add(2))).toThrow('sluice_open_requests is on the page already');
});

test('bucket counts: histograms of several threads add up', () => {
  const [one, two] = [new BucketCounts([1]), new BucketCounts([1])];
  one.observe(0.5);
  two.observe(0.5);
  two.observe(4);
  const sum = addNumbers(addNumbers(undefined, one.numbers), two.numbers);
  expect([...sum]).toEqual([2, 1, 5]);
  expect(Array.from(one.numbers)).toEqual([1, 0, 0.5]);
});

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

test('series text: a histogram without labels of its own has le as its only label', () => {
  expect(histogramText('sluice_h', [1, 2], [3, 0, 1, 9.5])).toEqual([
    'sluice_h_bucket{le="1"} 3',
    'sluice_h_bucket{le="2"} 3',
    'sluice_h_bucket{le="+Inf"} 4',
    'sluice_h_sum 9.5',
    'sluice_h_count 4',
  ]);
});
