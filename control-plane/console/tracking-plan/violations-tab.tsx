import type { ReactElement } from 'react';
import { useSearchParams } from 'react-router';
import { useRead } from '../api/queries.ts';
import type { Violations } from '../api/types.ts';
import { useSettled } from '../api/use-settled.ts';
import { Waiting } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { countOf } from '../design/numbers.ts';
import { Card, Empty } from '../design/page.tsx';
import { Table } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { useSourceNames } from '../events/use-source-names.ts';
import { NamedChoice } from '../forms/named-choice.tsx';
import { RuleName } from '../events/rule-name.tsx';
import { Severity } from './plan-words.tsx';

const filterNames = ['event', 'rule', 'sourceId', 'severity'] as const;

/** Violations, the most frequent first. */
export function ViolationsTab(): ReactElement {
  const [search, setSearch] = useSearchParams();
  const range = search.get('range') === '7d' ? '7d' : '24h';
  const filters = filterNames.flatMap((name) => {
    const value = search.get(name) ?? '';
    return value === '' ? [] : [[name, value]];
  });
  const settled = useSettled(new URLSearchParams([['range', range], ...filters]).toString());
  const query = useRead<Violations>(`/violations?${settled}`, { everyMs: 10_000 });
  const nameOf = useSourceNames();
  const choose = (name: string, value: string): void => {
    const next = new URLSearchParams(search);
    if (value === '') next.delete(name);
    else next.set(name, value);
    setSearch(next, { replace: true });
  };
  const rows = query.data?.entities ?? [];
  return (
    <>
      <form className="inline" role="search" onSubmit={(event) => event.preventDefault()}>
        <Field label="Time">
          {(ids) => (
            <select {...ids} value={range} onChange={(event) => choose('range', event.target.value)}>
              <option value="24h">Last 24 hours</option>
              <option value="7d">Last 7 days</option>
            </select>
          )}
        </Field>
        <Field label="Event is exactly">
          {(ids) => (
            <input
              {...ids}
              type="search"
              value={search.get('event') ?? ''}
              onChange={(event) => choose('event', event.target.value)}
            />
          )}
        </Field>
        <NamedChoice
          label="Source"
          of="sources"
          none="All"
          value={search.get('sourceId') ?? ''}
          onChange={(id) => choose('sourceId', id)}
        />
        <Field label="Severity">
          {(ids) => (
            <select
              {...ids}
              value={search.get('severity') ?? ''}
              onChange={(event) => choose('severity', event.target.value)}
            >
              <option value="">All</option>
              <option>Error</option>
              <option>Warning</option>
              <option>Info</option>
            </select>
          )}
        </Field>
        {search.get('rule') === null ? null : (
          <button type="button" onClick={() => choose('rule', '')}>
            Show all rules
          </button>
        )}
      </form>
      <Card title="Violations" isFlush>
        <Waiting query={query} />
        {query.isSuccess && rows.length === 0 ? (
          <Empty title={filters.length === 0 ? 'No event broke a rule.' : 'No violation matches.'}>
            <p>Violations are counted by hour, a few seconds after an event arrives. Test events do not count.</p>
          </Empty>
        ) : null}
        {rows.length === 0 ? null : (
          <>
            <p className="soft body">
              {countOf(query.data?.total ?? 0, 'violation')} in {countOf(query.data?.groupCount ?? 0, 'group')}. Samples
              show the shape of a value, never the value.
            </p>
            <Table
              label="Violations"
              rows={rows}
              keyOf={({ rule, event, sourceId, appVersion }) => JSON.stringify([rule, event, sourceId, appVersion])}
              columns={[
                {
                  title: 'Event',
                  cell: ({ event }) => (
                    <span className="clip" dir="auto">
                      {event === '_other' ? 'Other events' : event}
                    </span>
                  ),
                },
                {
                  title: 'Rule',
                  cell: (violation) => (
                    <div className="stack tight">
                      <RuleName {...violation} />
                      <span className="hint">{violation.action}</span>
                    </div>
                  ),
                },
                { title: 'Severity', cell: ({ severity }) => <Severity severity={severity} /> },
                { title: 'Count', isNumber: true, cell: ({ count }) => count.toLocaleString() },
                {
                  title: 'Sample',
                  cell: ({ sample }) => <code dir="auto">{sample}</code>,
                },
                {
                  title: 'Source',
                  cell: ({ sourceId, appVersion }) => (
                    <div className="stack tight">
                      <span className="clip short" dir="auto">
                        {nameOf(sourceId)}
                      </span>
                      {appVersion === '' ? null : <span className="hint">version {appVersion}</span>}
                    </div>
                  ),
                },
                { title: 'Last', cell: ({ lastAt }) => <Ago at={lastAt} /> },
              ]}
            />
          </>
        )}
      </Card>
    </>
  );
}
