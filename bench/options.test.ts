import { expect, test } from 'vitest';
import { lengthsFor, readOrder } from './options.ts';
import type { BenchOrder } from './options.ts';

const variables = new Set(['PIPELINE_THREADS', 'NATS_URL']);
const scenarios = [{ name: 'track' }, { name: 'batch' }, { name: 'soak', isLong: true }];
const read = (...args: string[]): BenchOrder => readOrder(args, scenarios, variables);

test('options: without arguments the scenarios are listed', () => {
  expect(read()).toEqual({ kind: 'list' });
});

test('options: a scenario without further arguments runs with the default lengths', () => {
  expect(read('track')).toEqual({
    kind: 'run',
    names: ['track'],
    options: {
      seconds: 5,
      warmUpSeconds: 3,
      warmUpSecondsMax: 12,
      rounds: 3,
      minutes: 10,
      isQuick: false,
      attacks: [],
      destinations: [],
      settings: {},
      asked: {},
    },
  });
});

test('options: --quick runs one short round, and explicit lengths override it', () => {
  expect(read('batch', '--quick', '--seconds', '3')).toMatchObject({
    kind: 'run',
    options: { seconds: 3, warmUpSeconds: 1, rounds: 1, isQuick: true, asked: { seconds: 3 } },
  });
});

test.each([
  [[], { seconds: 60, rounds: 5 }],
  [['--seconds', '4'], { seconds: 4, rounds: 5 }],
  [['--quick'], { seconds: 2, rounds: 1 }],
])('options: for a scenario with lengths of its own, %j gives %j', (args, expected) => {
  const order = read('track', ...args);
  if (order.kind !== 'run') throw new Error('it does not run');
  expect(lengthsFor(order.options, { seconds: 60, rounds: 5 })).toMatchObject(expected);
});

test('options: “all” runs every scenario except those that take long', () => {
  expect(read('all')).toMatchObject({ names: ['track', 'batch'] });
});

test('options: --attacks takes names separated by commas', () => {
  expect(read('track', '--attacks', 'merges, doors')).toMatchObject({ options: { attacks: ['merges', 'doors'] } });
  expect(read('track', '--attacks', 'merges,')).toMatchObject({ kind: 'said', exitCode: 1 });
});

test('options: --destinations takes whole numbers separated by commas', () => {
  expect(read('track', '--destinations', '1, 100')).toMatchObject({ options: { destinations: [1, 100] } });
  expect(read('track', '--destinations', '1,')).toMatchObject({ kind: 'said', exitCode: 1 });
});

test('options: --set may be repeated, and its value is everything after the first equals sign', () => {
  expect(read('track', '--set', 'PIPELINE_THREADS=4', '--set', 'NATS_URL=nats://a?b=c')).toMatchObject({
    options: { settings: { PIPELINE_THREADS: '4', NATS_URL: 'nats://a?b=c' } },
  });
});

test('options: --profile names the folder for profiles', () => {
  expect(read('track', '--profile', 'profiles')).toMatchObject({ options: { profileFolder: 'profiles' } });
});

test('options: compare takes two files', () => {
  expect(read('compare', 'a.json', 'b.json', '--fail-on-regression')).toEqual({
    kind: 'compare',
    before: 'a.json',
    after: 'b.json',
    failOnRegression: true,
  });
});

test('options: page takes any number of files', () => {
  expect(read('page', 'a.json', 'b.json')).toEqual({ kind: 'page', files: ['a.json', 'b.json'] });
});

test.each([
  [['nothing-like-it'], "there is no scenario 'nothing-like-it'; there are: track, batch, soak"],
  [['compare', 'a.json'], 'compare needs two result files'],
  [['page'], 'page needs result files'],
  [['track', 'batch'], 'track takes no further argument: batch'],
  [['track', '--seconds', '0'], 'it must be a number above 0'],
  [['track', '--seconds', 'soon'], 'it must be a number above 0'],
  [['track', '--rounds', '1.5'], 'it must be a whole number'],
  [['track', '--set', 'threads=4'], 'it must read NAME=VALUE'],
  [['track', '--set', 'PIPELINE_THREAD=4'], 'neither gateway nor pipeline reads PIPELINE_THREAD'],
  [['track', '--fast'], 'unknown option'],
])('options: %j is refused with a reason', (args, reason) => {
  const order = readOrder(args, scenarios, variables);
  expect(order).toMatchObject({ kind: 'said', exitCode: 1, text: expect.stringContaining(reason) });
});

test('options: --help prints the help and ends with 0', () => {
  expect(read('--help')).toMatchObject({ kind: 'said', exitCode: 0, text: expect.stringContaining('--seconds') });
});
