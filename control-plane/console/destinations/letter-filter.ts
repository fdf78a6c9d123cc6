import type { Destination } from '../api/types.ts';

/** Selects dead letters by reason, by the platform's message and by the time of their last attempt. */
export type LetterFilter = { readonly reason?: string; readonly message?: string; readonly to?: string };

export type LettersProps = {
  readonly destination: Destination;
  readonly filter: LetterFilter;
  readonly hasLetters: boolean;
};
