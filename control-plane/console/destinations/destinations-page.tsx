import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import type { ReactElement } from 'react';
import { Link, useSearchParams } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useRead } from '../api/queries.ts';
import type { Activity, ActivityDestination } from '../api/types.ts';
import { State, Waiting } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { HealthState } from '../design/health-state.tsx';
import { countOf, showCount } from '../design/numbers.ts';
import { Card, Empty, Page } from '../design/page.tsx';
import { Ago } from '../design/time.tsx';

const states = { all: 'All', live: 'Live', failing: 'Failing or with a backlog', off: 'Not live' } as const;
type StateFilter = keyof typeof states;

/** Every destination with how it is doing; the list may be long. */
export function DestinationsPage(): ReactElement {
  const query = useRead<Activity>('/activity?range=24h', { everyMs: 10_000 });
  const [search, setSearch] = useSearchParams();
  const text = search.get('q') ?? '';
  const state = stateOf(search.get('state'));
  const mayCreate = useScope('destination:create');
  const choose = (name: string, value: string): void => {
    const next = new URLSearchParams(search);
    if (value === '' || value === 'all') next.delete(name);
    else next.set(name, value);
    setSearch(next, { replace: true });
  };
  const all = query.data?.destinations ?? [];
  const shown = all.filter((one) => isShown(one, text, state)).toSorted((a, b) => urgency(b) - urgency(a));
  return (
    <Page
      title="Destinations"
      lead="Where events go. Failing destinations come first."
      actions={
        mayCreate ? (
          <Link className="button primary" to="/destinations/new">
            Add a destination
          </Link>
        ) : null
      }
    >
      <Waiting query={query} />
      {query.data === undefined ? null : all.length === 0 ? (
        <Card>
          <Empty title="No destinations yet.">
            <p>Choose a kind, fill in its settings, send a test event, and publish.</p>
            <Link className="button primary" to="/destinations/new">
              Add a destination
            </Link>
          </Empty>
        </Card>
      ) : (
        <>
          <form className="inline" role="search" onSubmit={(event) => event.preventDefault()}>
            <Field label="Name or kind">
              {(ids) => (
                <input {...ids} type="search" value={text} onChange={(event) => choose('q', event.target.value)} />
              )}
            </Field>
            <Field label="State">
              {(ids) => (
                <select {...ids} value={state} onChange={(event) => choose('state', event.target.value)}>
                  {Object.entries(states).map(([id, label]) => (
                    <option key={id} value={id}>
                      {label}
                    </option>
                  ))}
                </select>
              )}
            </Field>
            <p className="soft" role="status">
              {countOf(shown.length, 'destination')}
            </p>
          </form>
          <Card isFlush>
            {shown.length === 0 ? <Empty title="No destinations match." /> : <LongTable rows={shown} />}
          </Card>
        </>
      )}
    </Page>
  );
}

const rowPx = 58;

/** Only what is on the screen is drawn, so that a thousand rows scroll as ten do. */
function LongTable({ rows }: { readonly rows: readonly ActivityDestination[] }): ReactElement {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: 8,
  });
  const items = virtual.getVirtualItems();
  const before = items[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <div ref={scroller} className="scroll tall" tabIndex={0} role="group" aria-label="Destinations">
      <table aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            <th scope="col">Destination</th>
            <th scope="col">24 hours</th>
            <th scope="col" className="number">
              Delivered
            </th>
            <th scope="col" className="number">
              Failed
            </th>
            <th scope="col" className="number">
              Waiting
            </th>
            <th scope="col" className="number">
              Retrying
            </th>
            <th scope="col" className="number">
              Dead letters
            </th>
            <th scope="col">Last attempt</th>
          </tr>
        </thead>
        <tbody>
          {before > 0 ? <Space px={before} /> : null}
          {items.map(({ index, key }) => {
            const row = rows[index];
            return row === undefined ? null : (
              <tr key={key} aria-rowindex={index + 2}>
                <td>
                  <Link className="clip" dir="auto" to={`/destinations/${row.id}`}>
                    {row.name}
                  </Link>
                  <span className="hint">{row.type}</span>
                </td>
                <td>{row.isLive ? <HealthState health={row.health} /> : <State tone="off">Not live</State>}</td>
                <td className="number">{showCount(row.health.successCount)}</td>
                <td className="number">{showCount(row.health.failureCount)}</td>
                <td className="number">{showCount(row.backlog.waitingFrames)}</td>
                <td className="number">{showCount(row.backlog.retryingFrames)}</td>
                <td className="number">{showCount(row.backlog.deadLetters)}</td>
                <td>
                  <Ago at={row.health.lastDispatchedAt} />
                </td>
              </tr>
            );
          })}
          {after > 0 ? <Space px={after} /> : null}
        </tbody>
      </table>
    </div>
  );
}

function Space({ px }: { readonly px: number }): ReactElement {
  return (
    <tr aria-hidden="true">
      <td colSpan={8} style={{ height: px, padding: 0, border: 0 }} />
    </tr>
  );
}

function stateOf(text: string | null): StateFilter {
  return text !== null && text in states ? (text as StateFilter) : 'all';
}

function isShown(one: ActivityDestination, text: string, state: StateFilter): boolean {
  const wanted = text.trim().toLowerCase();
  if (!`${one.name} ${one.type}`.toLowerCase().includes(wanted)) return false;
  switch (state) {
    case 'all':
      return true;
    case 'live':
      return one.isLive;
    case 'off':
      return !one.isLive;
    case 'failing':
      return one.isLive && urgency(one) > 0;
  }
}

function urgency({ isLive, health, backlog, lately }: ActivityDestination): number {
  if (!isLive) return -1;
  const byStatus = { UNHEALTHY: 4, DEGRADED: 3, NO_DATA: 0, HEALTHY: 0 }[health.status];
  return Math.max(byStatus, lately.failed > 0 ? 2 : 0, backlog.deadLetters + backlog.retryingFrames > 0 ? 1 : 0);
}
