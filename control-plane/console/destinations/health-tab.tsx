import { Suspense, lazy } from 'react';
import type { ReactElement } from 'react';
import { Link, useSearchParams } from 'react-router';
import { useRead } from '../api/queries.ts';
import type { Backlog, Destination, Failure, Health, HealthSeries, Sending } from '../api/types.ts';
import { Loading, State, Waiting } from '../design/feedback.tsx';
import type { QueryState } from '../design/feedback.tsx';
import { HealthState } from '../design/health-state.tsx';
import { ErrorLine } from '../design/shown-exchange.tsx';
import { countOf, showCount, showMs, showShare } from '../design/numbers.ts';
import { Card, Empty } from '../design/page.tsx';
import { Table } from '../design/table.tsx';
import { Ago, showTime } from '../design/time.tsx';

const OutcomeChart = lazy(async () => ({ default: (await import('../design/outcome-chart.tsx')).OutcomeChart }));

const everyMs = 5_000;
const steps = { 60: 'by hour', 15: 'by quarter of an hour', 1: 'by minute' } as const;

/** The last 24 hours of a destination: attempts, waiting events, and why events were not delivered. */
export function HealthTab({ destination: { id } }: { readonly destination: Destination }): ReactElement {
  const [search] = useSearchParams();
  const chosen = Number(search.get('step'));
  const stepMinutes = chosen in steps ? chosen : 60;
  const health = useRead<Health>(`/destinations/${id}/health`, { everyMs });
  const series = useRead<HealthSeries>(`/destinations/${id}/health/series?stepMinutes=${stepMinutes}`, { everyMs });
  const backlog = useRead<Backlog>(`/destinations/${id}/backlog`, { everyMs });
  const sending = useRead<Sending>(`/destinations/${id}/sending`, { everyMs });
  return (
    <>
      <Waiting query={health} />
      {health.data === undefined ? null : (
        <Figures health={health.data} backlog={backlog.data} sending={sending.data} />
      )}
      {health.data === undefined || health.data.missed.length === 0 ? null : (
        <Missed id={id} missed={health.data.missed} />
      )}
      <Card
        title="Attempts in 24 hours"
        aside={
          <nav className="row" aria-label="Steps of the chart">
            {Object.entries(steps).map(([minutes, label]) => (
              <Link
                key={minutes}
                to={`/destinations/${id}?step=${minutes}`}
                aria-current={Number(minutes) === stepMinutes ? 'true' : undefined}
              >
                {label}
              </Link>
            ))}
          </nav>
        }
      >
        <Waiting query={series} />
        {series.data === undefined ? null : (
          <Suspense fallback={<Loading />}>
            <OutcomeChart series={series.data} />
          </Suspense>
        )}
      </Card>
      <HowItIsSent query={sending} />
      <Failures id={id} />
    </>
  );
}

const skipWords: Readonly<Record<NonNullable<Health['missed'][number]['reason']>, string>> = {
  retention: "Waited too long, or exceeded the account's quota",
  position_lost: 'The destination’s position in the log was lost',
  event_removed: 'Left the log before their retry',
  dead_letters_full: 'There was no room for more dead letters',
};

/** Ranges of events that were skipped for the destination, with a link to replay each. */
function Missed({ id, missed }: { readonly id: string; readonly missed: Health['missed'] }): ReactElement {
  return (
    <Card title="Skipped" isFlush>
      <div className="body">
        <p>The destination skipped these events. You can replay them while they are still in the log.</p>
      </div>
      <Table
        label="Skipped ranges"
        rows={missed}
        keyOf={({ from, reason }) => `${from} ${reason}`}
        columns={[
          { title: 'From', cell: ({ from }) => showTime(from) },
          { title: 'To', cell: ({ to }) => showTime(to) },
          { title: 'Events in the range', isNumber: true, cell: ({ events }) => showCount(events) },
          { title: 'Reason', cell: ({ reason }) => (reason === null ? 'Not recorded' : skipWords[reason]) },
          {
            title: 'Actions',
            cell: ({ from, to }) => (
              <Link
                to={`/destinations/${id}/dead-letters?${new URLSearchParams({ from, until: endOf(to) }).toString()}`}
              >
                Replay
              </Link>
            ),
          },
        ]}
      />
    </Card>
  );
}

/**
 * The end of a range that includes `to`. Time fields have whole seconds and a range excludes its end, so a second is
 * added.
 */
const endOf = (to: string): string => new Date(Date.parse(to) + 1_000).toISOString();

function Figures({
  health,
  backlog,
  sending,
}: {
  readonly health: Health;
  readonly backlog: Backlog | undefined;
  readonly sending: Sending | undefined;
}): ReactElement {
  return (
    <dl className="figures">
      <div>
        <dt>Health</dt>
        <dd>
          <HealthState health={health} isAccessRefused={sending?.isAccessRefused === true} />
        </dd>
        <dd>
          last attempt <Ago at={health.lastDispatchedAt} />
        </dd>
      </div>
      <div>
        <dt>Delivered</dt>
        <dd>{showCount(health.successCount)}</dd>
        <dd>in 24 hours</dd>
      </div>
      <div>
        <dt>Failed attempts</dt>
        <dd>{showCount(health.failureCount)}</dd>
        <dd>in 24 hours</dd>
      </div>
      <div>
        <dt>Stopped</dt>
        <dd>{showCount(health.stoppedCount + health.globalStopCount)}</dd>
        <dd>by rules, consent, an erasure or the platform</dd>
      </div>
      <div>
        <dt>Batches waiting</dt>
        <dd>{backlog === undefined ? '–' : showCount(backlog.waitingFrames)}</dd>
        <dd>in the log, one or more events each</dd>
      </div>
      <div>
        <dt>Batches retrying</dt>
        <dd>{backlog === undefined ? '–' : showCount(backlog.retryingFrames)}</dd>
        <dd>waiting for the next attempt</dd>
      </div>
      <div>
        <dt>Dead letters</dt>
        <dd>{backlog === undefined ? '–' : showCount(backlog.deadLetters)}</dd>
        <dd>kept until replayed or deleted</dd>
      </div>
    </dl>
  );
}

const breakers = {
  closed: ['good', 'Closed', 'events are sent'],
  open: ['bad', 'Open', 'sending is paused and retried later'],
  probing: ['warn', 'Half open', 'one request at a time until it succeeds'],
} as const;

type SendingQuery = QueryState & { readonly data: Sending | undefined };

function HowItIsSent({ query }: { readonly query: SendingQuery }): ReactElement {
  const sending = query.data;
  return (
    <Card
      title="Sending"
      aside={
        sending === undefined || sending.at === null ? null : (
          <span className="hint">
            as of the last attempt, <Ago at={sending.at} />
          </span>
        )
      }
    >
      <Waiting query={query} />
      {sending === undefined ? null : sending.breaker === null ? (
        <Empty title="Nothing has been sent yet." />
      ) : (
        <dl className="facts">
          <dt>Breaker</dt>
          <dd>
            <State tone={breakers[sending.breaker][0]}>{breakers[sending.breaker][1]}</State>{' '}
            <span className="hint">{breakers[sending.breaker][2]}</span>
          </dd>
          <dt>Key or token</dt>
          <dd>
            {sending.isAccessRefused ? (
              <>
                <State tone="bad">Refused</State> <span className="hint">events wait until you replace it</span>
              </>
            ) : (
              <State tone="good">Accepted</State>
            )}
          </dd>
          <dt>Concurrency</dt>
          <dd>{countOf(sending.concurrency ?? 0, 'request')}, adjusted to what it accepts</dd>
          <dt>Response time</dt>
          <dd>
            {sending.answerMs === null
              ? 'not measured since the pipeline started'
              : `p50 ${showMs(sending.answerMs.half)}, p95 ${showMs(sending.answerMs.most)}`}
          </dd>
        </dl>
      )}
    </Card>
  );
}

function Failures({ id }: { readonly id: string }): ReactElement {
  const query = useRead<{ readonly entities: readonly Failure[] }>(`/destinations/${id}/failures`, { everyMs });
  const all = query.data?.entities.reduce((sum, { events }) => sum + events, 0) ?? 0;
  return (
    <Card title="Why recent events were not delivered" isFlush>
      <Waiting query={query} />
      {query.data?.entities.length === 0 ? <Empty title="Every recent event was delivered or stopped." /> : null}
      {query.data === undefined || query.data.entities.length === 0 ? null : (
        <Table
          label="Why recent events were not delivered"
          rows={query.data.entities}
          keyOf={({ reason, outcome, error }) => `${outcome} ${reason} ${error?.code ?? ''} ${error?.message ?? ''}`}
          columns={[
            {
              title: 'Reason',
              cell: ({ reason, error, outcome }) => (
                <div className="stack tight">
                  {error === null ? <span dir="auto">{reason}</span> : <ErrorLine error={error} />}
                  {outcome === 'rejected' && error?.message != null ? (
                    <Link
                      to={`/destinations/${id}/dead-letters?${new URLSearchParams({ message: error.message }).toString()}`}
                    >
                      Dead letters with this message
                    </Link>
                  ) : null}
                </div>
              ),
            },
            {
              title: 'Now',
              cell: ({ outcome }) =>
                outcome === 'retrying' ? <State tone="warn">Retrying</State> : <State tone="bad">Dead letter</State>,
            },
            { title: 'Events', isNumber: true, cell: ({ events }) => showCount(events) },
            { title: 'Share', isNumber: true, cell: ({ events }) => showShare(events / Math.max(1, all)) },
            { title: 'Last', cell: ({ lastAt }) => <Ago at={lastAt} /> },
            {
              title: 'For example',
              cell: ({ lastEventId }) => <Link to={`/events/${encodeURIComponent(lastEventId)}`}>the last event</Link>,
            },
          ]}
        />
      )}
    </Card>
  );
}
