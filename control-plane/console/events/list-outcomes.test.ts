import { expect, test } from 'vitest';
import { listOutcomes } from './list-outcomes.ts';

const at = (destinationId: string, outcome: 'delivered' | 'retrying' | 'rejected' | 'stopped') => ({
  destinationId,
  outcome,
});

test('outcomes of a row: two at most are listed, first that of the filtered destination, then the worst; the others are counted', () => {
  const [meta, slack, ga4] = [at('meta', 'delivered'), at('slack', 'retrying'), at('ga4', 'rejected')];
  expect(listOutcomes([meta, slack])).toEqual({ listed: [slack, meta], more: 0 });
  expect(listOutcomes([at('x', 'stopped'), meta, slack, ga4, at('y', 'stopped')])).toEqual({
    listed: [ga4, slack],
    more: 3,
  });
  expect(listOutcomes([meta, ga4, slack], 'meta')).toEqual({ listed: [meta, ga4], more: 1 });
  expect(listOutcomes([])).toEqual({ listed: [], more: 0 });
});
