import type { ReactElement } from 'react';
import { Link } from 'react-router';
import type { Way } from '../api/types.ts';
import { ComparedRequests } from '../design/compared-requests.tsx';
import type { ComparedSide } from '../design/compared-requests.tsx';
import { Waiting } from '../design/feedback.tsx';
import { Card } from '../design/page.tsx';
import { WayState } from '../events/way-state.tsx';
import { EventChoice } from './event-choice.tsx';
import type { TriedEvent } from './event-choice.tsx';
import type { MappingFields } from './rule.ts';
import { useTrial } from './use-trial.ts';

export type MappingTrialProps = {
  readonly tried: TriedEvent;
  readonly id: string;
  readonly fields: MappingFields;
};

/** The request with the edited mapping, next to the request without it. */
export function MappingTrial({ tried, id, fields }: MappingTrialProps): ReactElement {
  const { destinationId } = fields;
  const eventId = destinationId === '' ? '' : tried.id;
  // A property without a name is not tried, because it cannot be saved.
  const named = { ...fields, mappings: fields.mappings.filter(({ property }) => property !== '') };
  const trial = useTrial(eventId, { mappings: { id, fields: named } }, destinationId);
  const without = useTrial(eventId, { mappings: { id, fields: null } }, destinationId);
  const way = trial.data?.ways[0];
  return (
    <Card title="Preview">
      <p className="hint">This is a preview: nothing is sent.</p>
      <EventChoice {...tried} />
      {destinationId === '' ? <p className="soft">Choose a destination to preview its request.</p> : null}
      {eventId === '' ? null : (
        <div className="stack" aria-live="polite">
          <Waiting query={trial} />
          <Waiting query={without} />
          {trial.error === null && trial.isSuccess && without.isSuccess ? (
            way === undefined ? (
              <p className="soft">Destination not found.</p>
            ) : (
              <>
                <Decides way={way} ownId={id} />
                <ComparedRequests
                  before={sideOf('Without this mapping', without.data.ways[0])}
                  after={sideOf('With this mapping', way)}
                />
              </>
            )
          ) : null}
        </div>
      )}
    </Card>
  );
}

function sideOf(title: string, way: Way | undefined): ComparedSide {
  if (way === undefined) return { title, request: null, note: null };
  const name = way.sentName ?? way.eventName;
  return {
    title,
    request: way.request,
    note: (
      <div className="row">
        <WayState decision={way.decision} />
        {way.decision !== 'send' || name === null ? (
          <span className="hint">{way.decision === 'send' ? null : way.why}</span>
        ) : (
          <span className="clip" dir="auto">
            as <strong>{name}</strong>
          </span>
        )}
      </div>
    ),
  };
}

function Decides({ way, ownId }: { readonly way: Way; readonly ownId: string }): ReactElement {
  const { ruleId, ruleName } = way;
  if (ruleId === null || ruleId === ownId) {
    return <p className="soft">{ruleId === ownId ? 'This rule decides.' : way.why}</p>;
  }
  return (
    <p className="note">
      <span>
        Another rule comes first and decides: <Link to={`/rules/mappings/${ruleId}`}>{ruleName ?? ruleId}</Link>
      </span>
    </p>
  );
}
