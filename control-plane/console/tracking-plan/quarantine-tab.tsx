import { useState } from 'react';
import type { ReactElement } from 'react';
import { useSearchParams } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange, useList } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { QuarantinedEvent } from '../api/types.ts';
import { Confirm } from '../design/confirm.tsx';
import { Waiting } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { countOf } from '../design/numbers.ts';
import { OlderThanField, useTimeBefore } from '../design/older-than.tsx';
import { Card, Empty } from '../design/page.tsx';
import { More, Table } from '../design/table.tsx';
import { Ago, showTime } from '../design/time.tsx';
import { useSourceNames } from '../events/use-source-names.ts';
import { ruleLabel } from '../events/rule-name.tsx';
import { useRuleNames } from '../events/use-rule-names.ts';

type Chosen = { readonly rule?: string; readonly to?: string };

type Done = { readonly pagination: { readonly nextCursor: string | null } };

/** The quarantined events, chosen by rule and age, with buttons that release or delete them. */
export function QuarantineTab(): ReactElement {
  const [search, setSearch] = useSearchParams();
  const rule = search.get('rule') ?? '';
  const days = search.get('olderThanDays') ?? '';
  const to = useTimeBefore(days);
  const chosen: Chosen = {
    ...(rule === '' ? {} : { rule }),
    ...(to === undefined ? {} : { to }),
  };
  const query = new URLSearchParams({ limit: '50', ...chosen }).toString();
  const events = useList<QuarantinedEvent>(`/quarantine?${query}`, { everyMs: 10_000 });
  const rules = useRuleNames();
  const sourceName = useSourceNames();
  const choose = (name: string, value: string): void => {
    const next = new URLSearchParams(search);
    if (value === '') next.delete(name);
    else next.set(name, value);
    setSearch(next, { replace: true });
  };
  return (
    <Card
      title="Quarantine"
      isFlush
      aside={<Actions chosen={chosen} rules={rules} isEmpty={events.entities.length === 0} />}
    >
      <div className="body">
        <form className="inline" role="search" onSubmit={(event) => event.preventDefault()}>
          <Field label="Rule">
            {(ids) => (
              <select {...ids} value={rule} onChange={(event) => choose('rule', event.target.value)}>
                <option value="">Any rule</option>
                {rule === '' || rules.has(rule) ? null : <option value={rule}>{ruleLabel(rule, undefined)}</option>}
                {[...rules].map(([id, { ruleName }]) => (
                  <option key={id} value={id}>
                    {ruleName}
                  </option>
                ))}
                {['unknown-event', 'unknown-property', 'too-costly'].map((id) => (
                  <option key={id} value={id}>
                    {ruleLabel(id, undefined)}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <OlderThanField label="Quarantined" days={days} onChange={(to) => choose('olderThanDays', to)} />
        </form>
      </div>
      <Waiting query={events} />
      {events.isSuccess && events.entities.length === 0 ? (
        <Empty title={rule === '' && days === '' ? 'No event is quarantined.' : 'No quarantined event matches.'}>
          <p>A rule with the action Quarantine holds events here until you release or delete them.</p>
        </Empty>
      ) : null}
      {events.entities.length === 0 ? null : (
        <Table
          label="Quarantined events"
          rows={events.entities}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Event',
              cell: ({ event }) => (
                <span className="clip" dir="auto">
                  {event}
                </span>
              ),
            },
            {
              title: 'Rule',
              cell: ({ rules: broken, releases }) => (
                <div className="stack tight">
                  <button type="button" className="plain" onClick={() => choose('rule', broken[0] ?? '')}>
                    <span className="clip" dir="auto">
                      {ruleLabel(broken[0] ?? '', rules.get(broken[0] ?? '')?.ruleName)}
                    </span>
                  </button>
                  {releases === 0 ? null : <span className="hint">released {countOf(releases, 'time')} before</span>}
                </div>
              ),
            },
            {
              title: 'Source',
              cell: ({ sourceId }) => (
                <span className="clip short" dir="auto">
                  {sourceName(sourceId)}
                </span>
              ),
            },
            { title: 'Received', cell: ({ receivedAt }) => <Ago at={receivedAt} /> },
            { title: 'Quarantined', cell: ({ quarantinedAt }) => <Ago at={quarantinedAt} /> },
          ]}
        />
      )}
      <More query={events} />
    </Card>
  );
}

type ActionsProps = {
  readonly chosen: Chosen;
  readonly rules: ReturnType<typeof useRuleNames>;
  readonly isEmpty: boolean;
};

function Actions({ chosen, rules, isEmpty }: ActionsProps): ReactElement {
  const mayRelease = useScope('quarantine:release');
  const mayDelete = useScope('quarantine:delete');
  const [asking, setAsking] = useState<'release' | 'delete'>();
  const deal = useChange(async (verb: 'release' | 'delete') => {
    // One request handles up to 1,000 events; the next one continues at the cursor.
    for (let cursor: string | null = ''; cursor !== null;) {
      const body: object = { ...chosen, ...(cursor === '' ? {} : { cursor }) };
      const part: Done = await request<Done>('POST', `/quarantine/${verb}`, body);
      cursor = part.pagination.nextCursor;
    }
  });
  const { rule, to } = chosen;
  const which = `${rule === undefined ? 'All quarantined events' : `Events quarantined by “${ruleLabel(rule, rules.get(rule)?.ruleName)}”`}${
    to === undefined ? '' : `, quarantined before ${showTime(to)},`
  }`;
  return (
    <span className="row">
      {mayRelease ? (
        <button type="button" disabled={isEmpty} onClick={() => setAsking('release')}>
          Release
        </button>
      ) : null}
      {mayDelete ? (
        <button type="button" disabled={isEmpty} onClick={() => setAsking('delete')}>
          Delete
        </button>
      ) : null}
      {asking === undefined ? null : (
        <Confirm
          title={asking === 'release' ? 'Release these events?' : 'Delete these events?'}
          action={asking === 'release' ? 'Release' : 'Delete'}
          isDanger={asking === 'delete'}
          onDone={() => setAsking(undefined)}
          onConfirm={() => deal.mutateAsync(asking)}
        >
          <p>
            {which}{' '}
            {asking === 'release'
              ? 'are processed in order, after newer events. The live version checks each one again. Events that still break a rule come back here.'
              : 'are deleted permanently.'}
          </p>
        </Confirm>
      )}
    </span>
  );
}
