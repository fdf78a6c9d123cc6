import type { ReactElement } from 'react';
import type { RuleMatches } from '../api/types.ts';
import { showCount } from '../design/numbers.ts';
import { At } from '../design/time.tsx';

/** Says to how many events of the last day a rule applies, and on which events this count is based. */
export function MatchesNote({ matches }: { readonly matches: RuleMatches | undefined }): ReactElement | null {
  if (matches === undefined) return null;
  const { examined, isSample, isComplete, since } = matches;
  if (examined === 0) return <p className="hint">There are no events from the last day to count.</p>;
  return (
    <p className="hint" role="status">
      <strong>{saysMatches(matches)}</strong>
      {isSample ? ' This is an estimate from a sample of the events.' : null}
      {isComplete || since === null ? null : (
        <>
          {' '}
          Only the newest kept events are counted, since <At at={since} />.
        </>
      )}
    </p>
  );
}

export function saysMatches({ matched, examined, isComplete }: RuleMatches): string {
  const range = isComplete ? 'of the last day' : 'of the newest events';
  return `Applies to ${showCount(matched)} of ${showCount(examined)} events ${range}.`;
}
