import { expect, test } from 'vitest';
import { attacks, controls } from '../neighbours/attacks/registry.ts';
import { chooseAttacks } from './neighbours.ts';

test('attacks: without names, all attacks run after the controls; with names, only the named ones run, in the order of the list', () => {
  expect(chooseAttacks([])).toEqual([...controls, ...attacks]);
  expect(chooseAttacks(['slow-uploads', 'merges']).map(({ name }) => name)).toEqual(['merges', 'slow-uploads']);
});

test('attacks: an unknown name is refused, and the error lists the known names', () => {
  expect(() => chooseAttacks(['merges', 'mergers'])).toThrow(
    /there is no mergers; there are nobody, foreign-programs, busy-neighbour, heavy-visitor, merges/,
  );
});

test('attacks: each states the responses that show that it happens', () => {
  expect(attacks.filter(({ expects }) => expects === undefined)).toEqual([]);
});

test('attacks: names are unique', () => {
  const names = chooseAttacks([]).map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
