import { medianOf } from '../result/figure.ts';

/** What a value of a knob came to, round by round. */
export type Trial = { readonly value: string; readonly perS: readonly number[] };

/** One round says nothing about scatter. */
const roundsMin = 2;

/**
 * The value to recommend: the one in use unless another is better by more than `leastGain` (0.05 is 5 %) in the median,
 * and in each of its rounds better than the one in use ever was: a setting away from its default has to earn its place,
 * and the best of several values that are alike is better by chance.
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
