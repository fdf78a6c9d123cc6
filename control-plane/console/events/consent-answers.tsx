import type { ReactElement } from 'react';
import type { Way } from '../api/types.ts';

type Answer = NonNullable<Way['consent']>[number];

/** The consent answers that cause an event to be stopped or limited, one per purpose. */
export function ConsentAnswers({ answers }: { readonly answers: readonly Answer[] | null }): ReactElement | null {
  if (answers === null || answers.length === 0) return null;
  return (
    <ul className="hint">
      {answers.map((answer) => (
        <li key={answer.purpose} dir="auto">
          {answer.purpose}: {answer.isGranted ? 'granted' : 'denied'} by {sourceOf(answer)}
        </li>
      ))}
    </ul>
  );
}

function sourceOf({ layer, detail }: Answer): string {
  switch (layer) {
    case 'event':
      return 'the event';
    case 'visitor':
      return 'the visitor';
    case 'signal':
      return `a signal: ${detail ?? 'not known'}`;
    case 'default':
      return detail === null ? 'default' : `default, region ${detail}`;
    case 'withdrawal':
      return 'a later refusal of the visitor';
  }
}
