import { expect, test } from 'vitest';
import { attacks } from '../neighbours/attacks/registry.ts';
import { chooseAttacks } from './neighbours.ts';

test('attacks: all of them where none is named, and those that are, in their order', () => {
  expect(chooseAttacks([])).toEqual(attacks);
  expect(chooseAttacks(['slow-uploads', 'merges']).map(({ name }) => name)).toEqual(['merges', 'slow-uploads']);
});

test('attacks: a name that is none is refused, with those that are', () => {
  expect(() => chooseAttacks(['merges', 'mergers'])).toThrow(/there is no mergers; there are heavy-visitor, merges/);
});

test('attacks: no two have one name', () => {
  expect(new Set(attacks.map(({ name }) => name)).size).toBe(attacks.length);
});
