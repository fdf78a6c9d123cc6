import { medianOf } from '../result/figure.ts';

/** Rates measured with one value of a setting, one per round. */
export type Trial = { readonly value: string; readonly perS: readonly number[] };

/** A single round does not show how much rates scatter. */
const roundsMin = 2;

/**
 * Recommends the value in use, unless another value has a median that is better by more than `leastGain` (0.05 is 5 %)
 * and each of its rounds is better than the best round of the value in use. Among several similar values, one is always
 * best by chance, which is no reason to change a default.
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
