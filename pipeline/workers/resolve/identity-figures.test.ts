import { expect, test } from 'vitest';
import { IdentityFigures } from './identity-figures.ts';

const hourMs = 3_600_000;
const at = (sourceId: string, receivedAtMs: number, count = 1) =>
  ({ accountId: 'a', sourceId, receivedAtMs, reason: 'blocked', count }) as const;

test('identity figures: the counts of an hour form one row, and counts that could not be written are added to later counts', () => {
  const figures = new IdentityFigures();
  figures.add(at('s', hourMs + 1));
  figures.add(at('s', hourMs + 2, 4));
  figures.add(at('s', 2 * hourMs));
  figures.add(at('s', hourMs, 0));
  const taken = figures.take();
  expect(taken.map(({ hourAtMs, count, lastAtMs }) => [hourAtMs, count, lastAtMs])).toEqual([
    [hourMs, 5, hourMs + 2],
    [2 * hourMs, 1, 2 * hourMs],
  ]);
  expect(figures.take()).toEqual([]);
  figures.add(at('s', hourMs + 9));
  figures.keep(taken);
  expect(figures.take().map(({ count, lastAtMs }) => [count, lastAtMs])).toEqual([
    [6, hourMs + 9],
    [1, 2 * hourMs],
  ]);
  expect(figures.stats()).toEqual({ 'identity_left_out:a': 7, 'source_identity_left_out:s': 7 });
});

test('identity figures: two accounts with the same source, reason and hour have two rows, also when the rows are kept for later', () => {
  const figures = new IdentityFigures();
  for (const [accountId, count] of [
    ['a', 1],
    ['b', 2],
  ] as const)
    figures.add({ ...at('s', 1, count), accountId });
  const taken = figures.take();
  expect(taken.map(({ accountId, count }) => [accountId, count])).toEqual([
    ['a', 1],
    ['b', 2],
  ]);
  figures.keep(taken);
  expect(figures.take()).toEqual(taken);
});

test('identity figures: counts of sources beyond the 5,000 rows that fit are counted as skipped', () => {
  const figures = new IdentityFigures();
  for (let n = 0; n < 5_003; n += 1) figures.add(at(`s-${n}`, 1, 2));
  expect(figures.skipped).toBe(6);
  expect(figures.take()).toHaveLength(5_000);
});
