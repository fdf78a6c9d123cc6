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

/** Destinations that a publish removes or disables, with their waiting events and, if needed, a confirmation. */
export function Backlogs({ left, isForced, onForced }: BacklogsProps): ReactElement | null {
  if (left.length === 0) return null;
  const isSafe = !left.some(({ needsForce }) => needsForce);
  return (
    <div className={isSafe ? 'note' : 'note warn'}>
      <p>Destinations that stop receiving events:</p>
      <ul>
        {left.map((one) => (
          <li key={one.destinationId}>
            <strong dir="auto">{one.name}</strong> {one.change === 'removed' ? 'is removed' : 'is disabled'}.{' '}
            {one.unsentSince !== null ? (
              <>
                {countOf(one.waitingFrames, 'batch', 'batches')} of events waiting,{' '}
                {countOf(one.retryingFrames, 'batch', 'batches')} to retry; the oldest from <At at={one.unsentSince} />.
              </>
            ) : (
              'No backlog.'
            )}
            {one.deadLetters > 0 ? ` ${countOf(one.deadLetters, 'dead letter')} remain and can be replayed.` : null}
          </li>
        ))}
      </ul>
      {isSafe ? null : (
        <>
          <p className="hint">
            Waiting events are not sent. They stay in the log for its retention period; once the destination is live
            again, replay that range to send them.
          </p>
          <Check label="Publish without sending them" checked={isForced} onChange={onForced} />
        </>
      )}
    </div>
  );
}

/** Events that a publish left unsent, with a link to replay them. */
export function LeftUnsent({ left }: { readonly left: readonly BacklogLeft[] }): ReactElement | null {
  if (left.length === 0) return null;
  return (
    <ul>
      {left.map(({ destinationId, name, unsentSince }) => (
        <li key={destinationId}>
          <State tone="warn">
            <span dir="auto">{name}</span>: waiting events were not sent
          </State>{' '}
          <Link to={`/destinations/${destinationId}/dead-letters${unsentSince === null ? '' : `?from=${unsentSince}`}`}>
            Replay once it is live again
          </Link>
        </li>
      ))}
    </ul>
  );
}
