import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useRead } from '../api/queries.ts';
import type { Way } from '../api/types.ts';
import { State, Waiting } from '../design/feedback.tsx';
import { countOf } from '../design/numbers.ts';
import { Card, Empty } from '../design/page.tsx';
import { Table } from '../design/table.tsx';
import { WayState } from '../events/way-state.tsx';
import { EventChoice } from './event-choice.tsx';
import type { TriedEvent } from './event-choice.tsx';
import { useTrial } from './use-trial.ts';
import type { StandIns, Ways } from './use-trial.ts';

export type AccountTrialProps = {
  readonly tried: TriedEvent;
  readonly standIns: StandIns;
};

const shownMax = 50;

type Row = { readonly way: Way; readonly before: Way | undefined; readonly isOther: boolean };

/**
 * For each destination of an event, the decision with the edited rule and with the live rules; changed decisions come
 * first.
 */
export function AccountTrial({ tried, standIns }: AccountTrialProps): ReactElement {
  const trial = useTrial(tried.id, standIns);
  const live = useRead<Ways>(`/events/${encodeURIComponent(tried.id)}/ways?rules=live`, { enabled: tried.id !== '' });
  const before = new Map(live.data?.ways.map((way) => [way.destinationId, way]));
  const rows = (trial.data?.ways ?? [])
    .map((way): Row => {
      const earlier = before.get(way.destinationId);
      return { way, before: earlier, isOther: earlier?.decision !== way.decision };
    })
    .toSorted((a, b) => Number(b.isOther) - Number(a.isOther));
  const more = rows.length - shownMax;
  return (
    <Card title="Destinations for this event" isFlush>
      <div className="body stack">
        <EventChoice {...tried} />
      </div>
      {tried.id === '' ? null : (
        <div className="stack" aria-live="polite">
          <Waiting query={trial} />
          {trial.isSuccess && rows.length === 0 ? <Empty title="The draft has no destinations." /> : null}
          {trial.error === null && rows.length > 0 ? (
            <Table
              label="Result for each destination"
              rows={rows.slice(0, shownMax)}
              keyOf={({ way }) => way.destinationId}
              columns={[
                {
                  title: 'Destination',
                  cell: ({ way }) => (
                    <Link className="clip short" dir="auto" to={`/destinations/${way.destinationId}`}>
                      {way.name}
                    </Link>
                  ),
                },
                {
                  title: 'With this rule',
                  cell: ({ way }) => (
                    <div className="stack tight">
                      <WayState decision={way.decision} />
                      <span className="hint">{way.why}</span>
                    </div>
                  ),
                },
                {
                  title: 'Live now',
                  cell: (row) =>
                    row.before === undefined ? (
                      <State tone="off">Not live yet</State>
                    ) : (
                      <WayState decision={row.before.decision} />
                    ),
                },
              ]}
            />
          ) : null}
          {more > 0 ? <p className="soft body">{countOf(more, 'more destination')}.</p> : null}
        </div>
      )}
    </Card>
  );
}
