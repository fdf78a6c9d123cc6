import type { OutcomeName, RecentEvent } from '../api/types.ts';

const worstFirst: readonly OutcomeName[] = ['rejected', 'retrying', 'delivered', 'stopped', 'globalStop'];
const listedMax = 2;

/**
 * The outcomes to show in a row: that of the filtered destination first, then the worst. `more` counts the others.
 * Pure.
 */
export function listOutcomes<One extends Pick<RecentEvent['outcomes'][number], 'destinationId' | 'outcome'>>(
  outcomes: readonly One[],
  filteredId?: string,
): { readonly listed: readonly One[]; readonly more: number } {
  const rank = ({ destinationId, outcome }: One): number =>
    destinationId === filteredId ? -1 : worstFirst.indexOf(outcome);
  const sorted = outcomes.toSorted((a, b) => rank(a) - rank(b));
  return { listed: sorted.slice(0, listedMax), more: Math.max(0, sorted.length - listedMax) };
}
