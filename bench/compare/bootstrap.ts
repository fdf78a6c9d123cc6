import { meanOf } from '../result/figure.ts';

export type Interval = { readonly low: number; readonly high: number };

export type BootstrapOptions = {
  readonly resamples: number;
  /** Such as 0.95. */
  readonly confidence: number;
  random(): number;
};

type Rounds = readonly (readonly number[])[];

/**
 * Confidence interval of mean(after) / mean(before) by the hierarchical bootstrap: rounds are drawn with replacement,
 * and within each round blocks of neighbouring seconds, because seconds of one round are more alike than rounds are
 * and a slow second is followed by slow ones. Undefined where there is too little to draw from.
 */
export function ratioInterval(before: Rounds, after: Rounds, options: BootstrapOptions): Interval | undefined {
  const [one, other] = [finiteOf(before), finiteOf(after)];
  if (!isEnough(one) || !isEnough(other)) return undefined;
  const ratios: number[] = [];
  for (let i = 0; i < options.resamples; i += 1) {
    const base = resampledMean(one, options.random);
    if (base !== 0) ratios.push(resampledMean(other, options.random) / base);
  }
  if (ratios.length === 0) return undefined;
  ratios.sort((a, b) => a - b);
  const tail = (1 - options.confidence) / 2;
  const at = (share: number): number => ratios[Math.min(ratios.length - 1, Math.floor(ratios.length * share))] ?? 0;
  return { low: at(tail), high: at(1 - tail) };
}

/** A second in which nothing was measured is no reading; a round without readings is none either. */
function finiteOf(rounds: Rounds): Rounds {
  return rounds.map((round) => round.filter(Number.isFinite)).filter((round) => round.length > 0);
}

/** At least three readings: of fewer nothing can be said of how they scatter. */
function isEnough(rounds: Rounds): boolean {
  return rounds.flat().length >= 3;
}

function resampledMean(rounds: Rounds, random: () => number): number {
  const means = rounds.map(() => {
    const round = rounds[Math.floor(random() * rounds.length)] ?? [];
    return meanOf(resampleBlocks(round, random));
  });
  return meanOf(means);
}

/** Circular blocks of about the square root of the length. */
function resampleBlocks(values: readonly number[], random: () => number): number[] {
  const block = Math.max(1, Math.round(Math.sqrt(values.length)));
  const drawn: number[] = [];
  while (drawn.length < values.length) {
    const from = Math.floor(random() * values.length);
    for (let i = 0; i < block && drawn.length < values.length; i += 1) {
      drawn.push(values[(from + i) % values.length] ?? 0);
    }
  }
  return drawn;
}
