import { medianOf } from '../result/figure.ts';

/** Results of one value of a setting, round by round. */
export type Trial = { readonly value: string; readonly perS: readonly number[] };

/** One round says nothing about scatter. */
const roundsMin = 2;

/**
 * The value to recommend: the one in use, unless another is better by more than `leastGain` (0.05 is 5 %) in the
 * median, and in each of its rounds better than the best round of the one in use. Of several similar values, one is
 * always best by chance, which is no reason to leave a default.
 */
export function chooseValue(inUse: string, trials: readonly Trial[], leastGain: number): string {
  const current = trials.find(({ value }) => value === inUse);
  if (current === undefined) return inUse;
  const most = Math.max(...current.perS);
  const [best] = trials
    .filter(({ perS }) => perS.length >= roundsMin && Math.min(...perS) > most)
    .toSorted((a, b) => medianOf(b.perS) - medianOf(a.perS));
  if (best === undefined) return inUse;
  return medianOf(best.perS) > medianOf(current.perS) * (1 + leastGain) ? best.value : inUse;
}
