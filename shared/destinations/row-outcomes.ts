import type { Outcome } from './define.ts';

const delivered: Outcome = { kind: 'delivered' };
const codeOrField = /^[\w.$[\]-]{1,64}$/;

/** The outcomes of a batch of which the platform refused some rows for good: why, by their place in the batch. */
export function rowOutcomes(count: number, refusals: ReadonlyMap<number, string>): readonly Outcome[] {
  return Array.from({ length: count }, (_, index): Outcome => {
    const reason = refusals.get(index);
    return reason === undefined ? delivered : { kind: 'reject', reason };
  });
}

/**
 * The reason of a refused row. Of what the platform says only what looks like a code or a field's name is kept: its
 * sentences may quote the event.
 */
export function rowRefusal(...words: readonly unknown[]): string {
  const kept = words.filter((word) => typeof word === 'string' && codeOrField.test(word));
  return ['row refused', ...kept].join(': ');
}
