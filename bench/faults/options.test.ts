import { expect, test } from 'vitest';
import { defineFault } from './families/fault.ts';
import { readFaultOrder } from './options.ts';
import type { FaultOrder } from './options.ts';

const words = { sees: 'something', does: 'nothing', run: () => Promise.resolve() };
const some = [
  defineFault({ name: 'one-killed', about: 'one is killed', harms: ['pipelines'], ...words }),
  defineFault({ name: 'disk-full', about: 'the disk is full', harms: ['log'], needs: { root: true }, ...words }),
];
const read = (...args: string[]): FaultOrder => readFaultOrder(args, some, () => 0.000_042);
const namesOf = (order: FaultOrder): readonly string[] =>
  order.kind === 'run' ? order.faults.map(({ name }) => name) : [];

test('fault options: without arguments the faults are listed', () => {
  expect(read()).toMatchObject({ kind: 'said', exitCode: 0, text: expect.stringContaining('one is killed') });
});

test('fault options: faults are chosen by name, or all faults with “all”', () => {
  expect(namesOf(read('one-killed'))).toEqual(['one-killed']);
  expect(namesOf(read('all'))).toEqual(['one-killed', 'disk-full']);
});

test('fault options: length, rate and seed have defaults and can be set', () => {
  expect(read('all')).toMatchObject({
    options: { seconds: 20, ratePerS: 200, seed: 42, isKept: false },
    again: 'npm run faults -- all --seed 42',
  });
  expect(
    read('all', '--seconds', '5', '--rate', '50', '--seed', '9', '--keep', '--previous', 'elsewhere'),
  ).toMatchObject({
    options: { seconds: 5, ratePerS: 50, seed: 9, isKept: true, previous: 'elsewhere' },
    again: 'npm run faults -- all --seconds 5 --rate 50 --keep --previous elsewhere --seed 9',
  });
  expect(read('all', '--minutes', '2')).toMatchObject({ options: { seconds: 120 } });
});

test('fault options: chaos is one fault made of other faults, and the same seed draws the same faults', () => {
  const [one, two, other] = [['7'], ['7'], ['8']].map((seed) => read('chaos', '--minutes', '3', '--seed', ...seed));
  expect(one).toMatchObject({
    faults: [{ name: 'chaos', about: expect.stringMatching(/^\d+ faults drawn at random/) }],
    options: { seconds: 20 },
    again: 'npm run faults -- chaos --minutes 3 --seed 7',
  });
  const about = (order: FaultOrder | undefined) => order?.kind === 'run' && order.faults[0]?.about;
  expect(about(two)).toBe(about(one));
  expect(about(other)).not.toBe(about(one));
});

test.each([
  [['one-kiled'], "there is no fault 'one-kiled'"],
  [['all', '--rate', '0'], 'it must be a number above 0'],
  [['all', '--seed', '1.5'], 'it must be a whole number'],
  [['all', '--fast'], 'unknown option'],
  [['chaos', 'one-killed'], 'name no other fault with it'],
])('fault options: %j is refused with a reason', (args, reason) => {
  expect(read(...args)).toMatchObject({ kind: 'said', exitCode: 1, text: expect.stringContaining(reason) });
});
