import { expect, test } from 'vitest';
import { defineFault } from '../families/fault.ts';
import type { Fault, FaultContext, Harmed } from '../families/fault.ts';
import { createChaos } from './chaos.ts';

const happened: string[] = [];
const context = { say: (line: string) => void happened.push(line), stack: {} } as unknown as FaultContext;
const words = { about: '', sees: '', does: '' };
const { shape } = defineFault({ name: 'any', harms: [], ...words, run: () => Promise.resolve() });

const fault = (name: string, harms: readonly Harmed[], run: Fault['run'] = () => Promise.resolve()): Fault =>
  defineFault({ name, harms, ...words, run });

test('chaos: faults overlap, but faults that harm the same thing take turns', async () => {
  happened.length = 0;
  let end: () => void = () => undefined;
  const long = fault('long', ['log'], () => new Promise((resolve) => (end = resolve)));
  const other = fault('other', ['pipelines'], async ({ pick }) => {
    expect(pick(['a', 'b', 'c', 'd'])).toBe('c');
    end();
  });
  const next = fault('next', ['log', 'pipelines']);
  await createChaos({
    shape,
    drawn: [long, other, next].map((each, index) => ({ fault: each, atMs: index, choice: 0.5 })),
  }).run(context);
  expect(happened.slice(0, 2)).toEqual(['long begins', 'other begins']);
  expect(happened.slice(2, 4).toSorted()).toEqual(['long is over', 'other is over']);
  expect(happened.slice(4)).toEqual(['next begins', 'next is over']);
});

test('chaos: a fault that cannot be caused is reported, and the run fails if most faults cannot be caused', async () => {
  const broken = fault('broken', ['log'], () => Promise.reject(new Error('no leader')));
  const draw = (...each: readonly Fault[]) => each.map((one) => ({ fault: one, atMs: 0, choice: 0 }));
  await createChaos({ shape, drawn: draw(broken, fault('after', ['log'])) }).run(context);
  expect(happened.slice(-4)).toEqual([
    'broken could not be caused: no leader',
    'broken is over',
    'after begins',
    'after is over',
  ]);
  await expect(createChaos({ shape, drawn: draw(broken, broken) }).run(context)).rejects.toThrow('2 of 2 drawn faults');
});
