import { Suspense, lazy } from 'react';
import type { ReactElement } from 'react';
import { Link, useSearchParams } from 'react-router';
import { useLive } from '../api/use-live.ts';
import type { Activity, ActivityDestination, ActivityRange, ActivitySource, Problem } from '../api/types.ts';
import { Bars } from '../design/bars.tsx';
import { ErrorNote, Loading, State } from '../design/feedback.tsx';
import { HealthState } from '../design/health-state.tsx';
import { countOf, showCount, showMs, showShare } from '../design/numbers.ts';
import { Card, Empty, Page } from '../design/page.tsx';
import { Table } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { GetStarted } from './get-started.tsx';

// Loaded on demand: the page is readable before the chart library has loaded.
const LagChart = lazy(async () => ({ default: (await import('./lag-chart.tsx')).LagChart }));

const ranges: Readonly<Record<ActivityRange, string>> = {
  '15m': '15 minutes',
  '24h': '24 hours',
  '7d': '7 days',
};

/** Maximum number of rows in each list; a link leads to the whole list. */
const shownMax = 12;

/** Problems first, then events received and delivered. */
export function OverviewPage(): ReactElement {
  const [search] = useSearchParams();
  const wanted = search.get('range') ?? '';
  const range = wanted in ranges ? (wanted as ActivityRange) : '15m';
  const { value: activity, isConnected, error } = useLive<Activity>(`/activity/stream?range=${range}&top=${shownMax}`);
  return (
    <Page
      title="Overview"
      lead={`The last ${ranges[range]}, updated live.`}
      actions={
        <>
          <span className="live-dot" role="status">
            {isConnected ? <State tone="good">Live</State> : <State tone="off">Connecting …</State>}
          </span>
          <nav className="row" aria-label="Time range">
            {Object.entries(ranges).map(([id, label]) => (
              <Link
                key={id}
                className={id === range ? 'button primary' : 'button'}
                aria-current={id === range ? 'true' : undefined}
                to={`/?range=${id}`}
              >
                {label}
              </Link>
            ))}
          </nav>
        </>
      }
    >
      <ErrorNote error={error} />
      {activity === undefined ? error === undefined ? <Loading /> : null : <Shown activity={activity} />}
    </Page>
  );
}

function Shown({ activity }: { readonly activity: Activity }): ReactElement {
  const { problems, sources, destinations, totals } = activity;
  const { succeeded, failed } = totals;
  const longestLag = activity.resolveLagMs.reduce<number | null>(
    (longest, lagMs) => (lagMs === null ? longest : Math.max(longest ?? 0, lagMs)),
    null,
  );
  return (
    <>
      <GetStarted activity={activity} />
      <Problems problems={problems} all={totals.problems} hasEvents={totals.usedSources > 0} />
      <dl className="figures">
        <div>
          <dt>Events in</dt>
          <dd>{showCount(totals.events)}</dd>
          <dd>from {countOf(totals.sendingSources, 'source')}</dd>
        </div>
        <div>
          <dt>Rejected</dt>
          <dd>{showCount(totals.refused)}</dd>
          <dd>not accepted at ingest</dd>
        </div>
        <div>
          <dt>Delivered</dt>
          <dd>{showCount(succeeded)}</dd>
          <dd>to {countOf(totals.liveDestinations, 'live destination')}</dd>
        </div>
        <div>
          <dt>Failed attempts</dt>
          <dd>{showCount(failed)}</dd>
          <dd>{succeeded + failed === 0 ? 'no attempts' : `${showShare(failed / (succeeded + failed))} of all`}</dd>
        </div>
        <div>
          <dt>Resolve lag</dt>
          <dd>{activity.oldestUnresolvedMs === null ? showMs(0) : showMs(activity.oldestUnresolvedMs)}</dd>
          <dd>{longestLag === null ? 'not measured yet' : `${showMs(longestLag)} at most`}</dd>
        </div>
        <div>
          <dt>Live version</dt>
          <dd>{activity.live === null ? 'none' : activity.live.versionNumber}</dd>
          <dd>
            {activity.live === null ? (
              <Link to="/draft">Publish the draft</Link>
            ) : (
              <>
                published <Ago at={activity.live.publishedAt} />
              </>
            )}
          </dd>
        </div>
        <div>
          <dt>Draft</dt>
          <dd>{activity.draftChanges}</dd>
          <dd>{activity.draftChanges === 0 ? 'no changes' : <Link to="/draft">review changes</Link>}</dd>
        </div>
      </dl>
      <Card
        title="Destinations"
        isFlush
        aside={<All to="/destinations" shown={destinations.length} all={totals.destinations} noun="destination" />}
      >
        {destinations.length === 0 ? (
          <Empty title="No destinations yet.">
            <p>Events are stored but not delivered anywhere.</p>
            <Link className="button primary" to="/destinations/new">
              Add a destination
            </Link>
          </Empty>
        ) : (
          <Table label="Destinations" rows={destinations} keyOf={({ id }) => id} columns={destinationColumns} />
        )}
      </Card>
      <Card
        title="Sources"
        isFlush
        aside={<All to="/sources" shown={sources.length} all={totals.sources} noun="source" />}
      >
        {sources.length === 0 ? (
          <Empty title="No sources yet.">
            <p>A source has the key that events are sent with.</p>
            <Link className="button primary" to="/sources">
              Add a source
            </Link>
          </Empty>
        ) : (
          <Table label="Sources" rows={sources} keyOf={({ id }) => id} columns={sourceColumns} />
        )}
      </Card>
      <Card title="Resolve lag" aside={<span className="hint">the longest wait before an event was resolved</span>}>
        <Suspense fallback={<Loading />}>
          <LagChart {...activity} />
        </Suspense>
      </Card>
    </>
  );
}

type AllProps = { readonly to: string; readonly shown: number; readonly all: number; readonly noun: string };

/** A link to the whole list. Its text says how many of the entries are shown here. */
function All({ to, shown, all, noun }: AllProps): ReactElement {
  return <Link to={to}>{shown < all ? `${shown} of ${countOf(all, noun)}` : `All ${noun}s`}</Link>;
}

const destinationColumns = [
  {
    title: 'Destination',
    cell: ({ id, name, label }: ActivityDestination) => (
      <div className="stack tight">
        <Link className="clip" dir="auto" to={`/destinations/${id}`}>
          {name}
        </Link>
        <span className="hint">{label}</span>
      </div>
    ),
  },
  {
    title: '24 hours',
    cell: ({ health, isAccessRefused, isLive }: ActivityDestination) =>
      isLive ? <HealthState {...{ health, isAccessRefused }} /> : <State tone="off">Not live</State>,
  },
  { title: 'Attempts', cell: ({ succeeded, failed }: ActivityDestination) => <Bars good={succeeded} bad={failed} /> },
  { title: 'Delivered', isNumber: true, cell: ({ inRange }: ActivityDestination) => showCount(inRange.succeeded) },
  { title: 'Failed', isNumber: true, cell: ({ inRange }: ActivityDestination) => showCount(inRange.failed) },
  {
    title: 'Batches waiting',
    isNumber: true,
    cell: ({ backlog }: ActivityDestination) => showCount(backlog.waitingFrames),
  },
  {
    title: 'Batches retrying',
    isNumber: true,
    cell: ({ backlog }: ActivityDestination) => showCount(backlog.retryingFrames),
  },
  { title: 'Dead letters', isNumber: true, cell: ({ backlog }: ActivityDestination) => showCount(backlog.deadLetters) },
];

const sourceColumns = [
  {
    title: 'Source',
    cell: ({ id, name, label }: ActivitySource) => (
      <div className="stack tight">
        <Link className="clip" dir="auto" to={`/sources/${id}`}>
          {name}
        </Link>
        <span className="hint">{label}</span>
      </div>
    ),
  },
  {
    title: 'State',
    cell: ({ isLive }: ActivitySource) =>
      isLive ? <State tone="good">Live</State> : <State tone="off">Not live</State>,
  },
  { title: 'Events in', cell: ({ events }: ActivitySource) => <Bars good={events} /> },
  { title: 'Events', isNumber: true, cell: ({ total }: ActivitySource) => showCount(total) },
  { title: 'Rejected', cell: (source: ActivitySource) => <Refused source={source} /> },
  { title: 'Test events', isNumber: true, cell: ({ testTotal }: ActivitySource) => showCount(testTotal) },
  { title: 'Last request', cell: ({ lastTriggeredAt }: ActivitySource) => <Ago at={lastTriggeredAt} /> },
];

const reasons: Readonly<Record<keyof ActivitySource['refused'], string>> = {
  invalid: 'invalid',
  limited: 'over the rate limit',
  forbidden: 'from an address that is not allowed',
  lost: 'not stored by the log',
};

function Refused({ source: { refused, lastInvalid } }: { readonly source: ActivitySource }): ReactElement {
  const why = Object.entries(reasons).flatMap(([reason, words]) => {
    const count = refused[reason as keyof typeof refused];
    return count === 0 ? [] : [{ words, count }];
  });
  if (why.length === 0) return <span className="soft">0</span>;
  return (
    <ul className="plain-list">
      {why.map(({ words, count }) => (
        <li key={words}>
          {showCount(count)} <span className="hint">{words}</span>
        </li>
      ))}
      {refused.invalid === 0 || lastInvalid === null ? null : (
        <li className="hint">
          {lastInvalid.problem}, <Ago at={lastInvalid.at} />
        </li>
      )}
    </ul>
  );
}

type ProblemsProps = { readonly problems: readonly Problem[]; readonly all: number; readonly hasEvents: boolean };

function Problems({ problems, all, hasEvents }: ProblemsProps): ReactElement | null {
  if (problems.length === 0) {
    // There is no health to report before the first event.
    if (!hasEvents) return null;
    return (
      <div className="note good" role="status">
        <State tone="good">No problems found.</State>
      </div>
    );
  }
  const isBad = problems.some(({ level }) => level === 'bad');
  return (
    <section className={isBad ? 'note bad' : 'note warn'} aria-label="Problems">
      <h2>{countOf(all, 'problem')}</h2>
      <ul className="problems">
        {problems.map((problem) => (
          <li key={`${problem.kind} ${problem.id ?? ''} ${problem.text}`}>
            <State tone={problem.level}>
              <ProblemName problem={problem} />
            </State>
            <span>{problem.text}</span>
          </li>
        ))}
      </ul>
      {problems.length < all ? (
        <p>
          The first {problems.length}. <Link to="/destinations?state=failing">All failing destinations</Link>
        </p>
      ) : null}
    </section>
  );
}

function ProblemName({ problem: { kind, id, name } }: { readonly problem: Problem }): ReactElement {
  if ((kind === 'destination' || kind === 'source') && id !== null) {
    return (
      <Link className="clip" dir="auto" to={`/${kind}s/${id}`}>
        {name}
      </Link>
    );
  }
  if (kind === 'rule' && id !== null) {
    return (
      <Link dir="auto" to={`/tracking-plan?rule=${encodeURIComponent(id)}`}>
        {name}
      </Link>
    );
  }
  return <Link to="/system">{name}</Link>;
}
