import type { OutcomeName, RecentEvent } from '../api/types.ts';

const worstFirst: readonly OutcomeName[] = ['rejected', 'retrying', 'delivered', 'stopped', 'globalStop'];
const listedMax = 2;

/** The outcomes that fit a row, the worst first, and the number of the others. Pure. */
export function listOutcomes<One extends Pick<RecentEvent['outcomes'][number], 'outcome'>>(
  outcomes: readonly One[],
): { readonly listed: readonly One[]; readonly more: number } {
  const sorted = outcomes.toSorted((a, b) => worstFirst.indexOf(a.outcome) - worstFirst.indexOf(b.outcome));
  return { listed: sorted.slice(0, listedMax), more: Math.max(0, sorted.length - listedMax) };
}
