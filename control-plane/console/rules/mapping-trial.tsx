import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useRead } from '../api/queries.ts';
import type { Way } from '../api/types.ts';
import { Waiting } from '../design/feedback.tsx';
import { Card } from '../design/page.tsx';
import { RequestView } from '../design/shown-request.tsx';
import { WayState } from '../events/way-state.tsx';
import { EventChoice } from './event-choice.tsx';
import type { useTriedEvent } from './event-choice.tsx';
import type { MappingFields } from './rule.ts';
import { useTrial } from './use-trial.ts';
import type { Ways } from './use-trial.ts';

export type MappingTrialProps = {
  readonly tried: ReturnType<typeof useTriedEvent>;
  readonly id: string;
  readonly fields: MappingFields;
};

/** What the destination would be sent with the mapping as it is written now, beside what it is sent today. */
export function MappingTrial({ tried, id, fields }: MappingTrialProps): ReactElement {
  const { destinationId } = fields;
  const isAsked = tried.id !== '' && destinationId !== '';
  // A property without a name could not be kept: it is not tried yet.
  const named = { ...fields, mappings: fields.mappings.filter(({ property }) => property !== '') };
  const trial = useTrial(isAsked ? tried.id : '', { mappings: { id, fields: named } }, destinationId);
  const live = useRead<Ways>(
    `/events/${encodeURIComponent(tried.id)}/ways?rules=live&destinationId=${encodeURIComponent(destinationId)}`,
    { enabled: isAsked },
  );
  return (
    <Card title="Preview">
      <EventChoice {...tried} />
      {isAsked ? (
        <div className="stack" aria-live="polite">
          <h3>With this rule</h3>
          <Waiting query={trial} />
          {trial.error === null ? <Shown way={trial.data?.ways[0]} ownId={id} none="Destination not found." /> : null}
          <details>
            <summary>Live now</summary>
            <Waiting query={live} />
            {live.isSuccess ? (
              <Shown way={live.data.ways[0]} ownId={id} none="This destination is not live yet." />
            ) : null}
          </details>
        </div>
      ) : destinationId === '' ? (
        <p className="soft">Choose a destination to preview its request.</p>
      ) : null}
    </Card>
  );
}

type ShownProps = { readonly way: Way | undefined; readonly ownId: string; readonly none: string };

function Shown({ way, ownId, none }: ShownProps): ReactElement {
  if (way === undefined) return <p className="soft">{none}</p>;
  const { ruleId } = way;
  const isOther = ruleId !== null && ruleId !== ownId;
  return (
    <div className="stack">
      <div className="row">
        <WayState decision={way.decision} />
        {way.eventName === null ? null : (
          <span className="clip" dir="auto">
            as <strong>{way.eventName}</strong>
          </span>
        )}
      </div>
      {isOther ? (
        <p className="note">
          <span>
            Another rule comes first and decides: <Link to={`/rules/mappings/${ruleId}`}>{ruleId}</Link>
          </span>
        </p>
      ) : (
        <p className="soft">{ruleId === ownId ? 'This rule decides.' : way.why}</p>
      )}
      {way.request === null ? null : <RequestView request={way.request} />}
    </div>
  );
}
