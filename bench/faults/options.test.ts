import { expect, test } from 'vitest';
import { defineFault, obstacleTo } from './families/fault.ts';
import { readFaultOrder } from './options.ts';
import type { FaultOrder } from './options.ts';
import { faults } from './registry.ts';

const some = [
  defineFault({ name: 'one-killed', about: 'one is killed', run: () => Promise.resolve() }),
  defineFault({ name: 'disk-full', about: 'the disk is full', needs: 'root', run: () => Promise.resolve() }),
];
const read = (...args: string[]): FaultOrder => readFaultOrder(args, some);
const namesOf = (order: FaultOrder): readonly string[] =>
  order.kind === 'run' ? order.faults.map(({ name }) => name) : [];

test('fault options: nothing lists the faults', () => {
  expect(read()).toMatchObject({ kind: 'said', exitCode: 0, text: expect.stringContaining('one is killed') });
});

test('fault options: faults are chosen by name, or all of them', () => {
  expect(namesOf(read('one-killed'))).toEqual(['one-killed']);
  expect(namesOf(read('all'))).toEqual(['one-killed', 'disk-full']);
});

test('fault options: length, rate and seed have defaults and are taken', () => {
  expect(read('all')).toMatchObject({ options: { seconds: 20, ratePerS: 200, seed: 1, isKept: false } });
  expect(read('all', '--seconds', '5', '--rate', '50', '--seed', '9', '--keep')).toMatchObject({
    options: { seconds: 5, ratePerS: 50, seed: 9, isKept: true },
  });
  expect(read('all', '--minutes', '2')).toMatchObject({ options: { seconds: 120 } });
});

test.each([
  [['one-kiled'], "there is no fault 'one-kiled'"],
  [['all', '--rate', '0'], 'it must be a number above 0'],
  [['all', '--seed', '1.5'], 'it must be a whole number'],
  [['all', '--fast'], 'unknown option'],
])('fault options: %j is refused with a reason', (args, reason) => {
  expect(read(...args)).toMatchObject({ kind: 'said', exitCode: 1, text: expect.stringContaining(reason) });
});

test('faults: have names of their own, in kebab case, that are no option', () => {
  const names = faults.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
  expect(names).not.toContain('all');
});

test('faults: one that takes root says so to others, and only to them', () => {
  const [killed, full] = some;
  expect([killed, full].map((fault) => fault && obstacleTo(fault, 0))).toEqual([undefined, undefined]);
  expect([killed, full].map((fault) => fault && obstacleTo(fault, 1_000))).toEqual([
    undefined,
    expect.stringContaining('root'),
  ]);
});
