import type { Destination } from '../api/types.ts';

/** Selects dead letters by reason, platform message and time of the last attempt. */
export type LetterFilter = { readonly reason?: string; readonly message?: string; readonly to?: string };

export type LettersProps = {
  readonly destination: Destination;
  readonly filter: LetterFilter;
  readonly hasLetters: boolean;
};
