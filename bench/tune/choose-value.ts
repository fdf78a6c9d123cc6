/** What a value of a knob came to. */
export type Trial = { readonly value: string; readonly perS: number };

/**
 * The value to recommend: the one in use unless another is better by more than `leastGain` (0.05 is 5 %), since a
 * setting away from its default has to earn its place, and short trials scatter.
 */
export function chooseValue(inUse: string, trials: readonly Trial[], leastGain: number): string {
  const current = trials.find(({ value }) => value === inUse);
  const best = trials.toSorted((a, b) => b.perS - a.perS)[0];
  if (best === undefined) return inUse;
  if (current === undefined) return best.value;
  return best.perS > current.perS * (1 + leastGain) ? best.value : inUse;
}
