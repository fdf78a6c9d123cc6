import { expect, test } from 'vitest';
import { attacks, controls } from '../neighbours/attacks/registry.ts';
import { chooseAttacks } from './neighbours.ts';

test('attacks: without names all follow their controls; named ones alone keep the order of the list', () => {
  expect(chooseAttacks([])).toEqual([...controls, ...attacks]);
  expect(chooseAttacks(['slow-uploads', 'merges']).map(({ name }) => name)).toEqual(['merges', 'slow-uploads']);
});

test('attacks: a name that is none is refused, with those that are', () => {
  expect(() => chooseAttacks(['merges', 'mergers'])).toThrow(
    /there is no mergers; there are nobody, foreign-programs, busy-neighbour, heavy-visitor, merges/,
  );
});

test('attacks: no two have one name', () => {
  const names = chooseAttacks([]).map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
