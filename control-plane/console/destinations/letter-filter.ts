import type { Destination } from '../api/types.ts';

/** Selects dead letters by reason, by the platform's message and by the time of their last attempt. */
export type LetterFilter = { readonly reason?: string; readonly message?: string; readonly to?: string };

export type LettersProps = {
  readonly destination: Destination;
  readonly filter: LetterFilter;
  readonly hasLetters: boolean;
};

/** The chosen dead letters, as the beginning of a sentence. */
export function inWords({ reason, message, to }: LetterFilter): string {
  const given = [reason, message].flatMap((text) => (text === undefined ? [] : [`“${text}”`]));
  const why = given.length === 0 ? '' : ` for ${given.join(' and ')}`;
  const when = to === undefined ? '' : `, last tried before ${new Date(to).toLocaleString()},`;
  return given.length === 0 && to === undefined ? 'All dead letters' : `Dead letters${why}${when}`;
}
