import { expect, test } from 'vitest';
import { AccountCounts } from './account-counts.ts';

test('account counts: each account has its own count, up to a number of accounts; the rest share one count', () => {
  const counts = new AccountCounts('visitors_cut');
  for (let n = 0; n < 150; n += 1) counts.add(`a${n}`, 2);
  counts.add('a0', 1);
  counts.add('a149', 1);
  const stats = counts.stats();
  expect(Object.keys(stats)).toHaveLength(101);
  expect(stats).toMatchObject({ 'visitors_cut:a0': 3, 'visitors_cut:a99': 2, 'visitors_cut:_other': 101 });
});
