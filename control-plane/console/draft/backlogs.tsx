import type { ReactElement } from 'react';
import { Link } from 'react-router';
import type { BacklogLeft } from '../api/types.ts';
import { State } from '../design/feedback.tsx';
import { Check } from '../design/field.tsx';
import { countOf } from '../design/numbers.ts';
import { At } from '../design/time.tsx';

export type BacklogsProps = {
  readonly left: readonly BacklogLeft[];
  readonly isForced: boolean;
  readonly onForced: (isForced: boolean) => void;
};

/** Which destinations a publish ends, what waits for each, and the word without which that is not done. */
export function Backlogs({ left, isForced, onForced }: BacklogsProps): ReactElement | null {
  if (left.length === 0) return null;
  const isSafe = !left.some(({ needsForce }) => needsForce);
  return (
    <div className={isSafe ? 'note' : 'note warn'}>
      <p>{countOf(left.length, 'destination')} will get nothing more:</p>
      <ul>
        {left.map((one) => (
          <li key={one.destinationId}>
            <strong dir="auto">{one.name}</strong> {one.change === 'removed' ? 'goes' : 'is turned off'}.{' '}
            {one.unsentSince !== null ? (
              <>
                {countOf(one.waitingFrames, 'message')} wait, {countOf(one.retryingFrames, 'message')} are tried again ;
                the oldest of <At at={one.unsentSince} />.
              </>
            ) : (
              'Nothing waits for it.'
            )}
            {one.deadLetters > 0 ? ` ${countOf(one.deadLetters, 'event')} given up stay, and can be replayed.` : null}
          </li>
        ))}
      </ul>
      {isSafe ? null : (
        <>
          <p className="hint">
            What waits is not sent. It stays in the log for as long as that is kept: once the destination is live again,
            a replay of that time sends it.
          </p>
          <Check label="Publish it, and leave that unsent" checked={isForced} onChange={onForced} />
        </>
      )}
    </div>
  );
}

/** What was left unsent by a publish, and where it is sent from once the destination is live again. */
export function LeftUnsent({ left }: { readonly left: readonly BacklogLeft[] }): ReactElement | null {
  if (left.length === 0) return null;
  return (
    <ul>
      {left.map(({ destinationId, name, unsentSince }) => (
        <li key={destinationId}>
          <State tone="warn">
            <span dir="auto">{name}</span>: what waited was not sent
          </State>{' '}
          <Link to={`/destinations/${destinationId}/dead-letters${unsentSince === null ? '' : `?from=${unsentSince}`}`}>
            Replay it once it is live again
          </Link>
        </li>
      ))}
    </ul>
  );
}
