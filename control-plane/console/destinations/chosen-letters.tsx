import type { ReactElement } from 'react';
import { useRead } from '../api/queries.ts';
import type { Backlog } from '../api/types.ts';
import { showCount } from '../design/numbers.ts';
import { showTime } from '../design/time.tsx';
import type { LetterFilter } from './letter-filter.ts';

type ChosenLettersProps = { readonly destinationId: string; readonly filter: LetterFilter };

/** Describes the dead letters that a filter selects; without a filter, it also gives their number. */
export function ChosenLetters({ destinationId, filter }: ChosenLettersProps): ReactElement {
  const { reason, message, to } = filter;
  const given = [reason, message].flatMap((text) => (text === undefined ? [] : [`“${text}”`]));
  const isAll = given.length === 0 && to === undefined;
  const backlog = useRead<Backlog>(`/destinations/${destinationId}/backlog`, { enabled: isAll });
  const count = backlog.data?.deadLetters;
  if (isAll) return <>All {count === undefined ? '' : showCount(count)} dead letters of this destination</>;
  const why = given.length === 0 ? '' : ` for ${given.join(' and ')}`;
  const when = to === undefined ? '' : `, last tried before ${showTime(to)},`;
  return (
    <>
      Dead letters{why}
      {when}
    </>
  );
}
