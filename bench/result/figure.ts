import type { Figure, Unit } from './result.ts';

/** Median of a list; NaN if the list is empty. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

export function meanOf(values: readonly number[]): number {
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The value of a round, and the readings that it is based on. */
export type Round = { readonly value: number; readonly readings: readonly number[] };

/** The figure of several rounds: the median of their values. */
export function figureOf(unit: Unit, better: Figure['better'], rounds: readonly Round[]): Figure {
  const values = rounds.map(({ value }) => value);
  return { unit, better, value: medianOf(values), values, rounds: rounds.map(({ readings }) => readings) };
}

/** The figure of several rounds that have one reading each. */
export function plainFigure(unit: Unit, better: Figure['better'], values: readonly number[]): Figure {
  return figureOf(
    unit,
    better,
    values.map((value) => ({ value, readings: [value] })),
  );
}

/**
 * Ratio of subject to reference, computed for each round, because in one round both had the same machine at about the
 * same time. Rounds beyond the shorter list are left out.
 */
export function ratioFigure(subject: readonly number[], reference: readonly number[]): Figure {
  return plainFigure(
    'ratio',
    'more',
    subject.slice(0, reference.length).map((value, round) => value / (reference[round] ?? Number.NaN)),
  );
}
