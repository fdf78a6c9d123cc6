import { useState } from 'react';
import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange, useRead } from '../api/queries.ts';
import { open, request } from '../api/request.ts';
import type { PersonalFinding } from '../api/types.ts';
import { ErrorNote, State, Waiting } from '../design/feedback.tsx';
import type { Tone } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { Card, Empty } from '../design/page.tsx';
import { Table } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { NamedChoice } from '../forms/named-choice.tsx';

type Finding = PersonalFinding;

const kindWords: Readonly<Record<Finding['kind'], string>> = {
  email: 'e-mail address',
  phone: 'phone number',
  ip: 'IP address',
  card: 'card number',
  iban: 'bank account',
  national_id: 'national id',
  birth_date: 'date of birth',
  name: 'name',
  address: 'address',
  health: 'health',
  secret: 'password or token',
};

const basisWords: Readonly<Record<Finding['basis'], string>> = {
  name: 'by its name',
  shape: 'by its values',
  both: 'by its name and values',
};

const stateWords: Readonly<Record<Finding['state'], readonly [Tone, string]>> = {
  open: ['warn', 'Not covered'],
  drafted: ['off', 'Covered in the draft'],
  covered: ['good', 'Covered'],
  dismissed: ['off', 'Not personal'],
};

/** Properties that look personal, with their protection. */
export function PersonalDataTab(): ReactElement {
  const [state, setState] = useState<Finding['state'] | ''>('open');
  const query = useRead<{ readonly entities: readonly Finding[] }>(
    `/personal-data${state === '' ? '' : `?state=${state}`}`,
  );
  const download = useChange(async (_none: undefined) => {
    const answer = await open('GET', '/personal-data?format=csv');
    const link = document.createElement('a');
    link.href = URL.createObjectURL(await answer.blob());
    link.download = 'personal-data.csv';
    link.click();
    URL.revokeObjectURL(link.href);
  });
  const rows = query.data?.entities ?? [];
  return (
    <Card
      title="Personal data found"
      isFlush
      aside={
        <button type="button" disabled={download.isPending} onClick={() => download.mutate(undefined)}>
          Download CSV
        </button>
      }
    >
      <div className="body">
        <p className="soft">
          A sample of the events received is checked for names and shapes of personal data. Values are not stored. A
          rule omits or redacts a property in everything that is stored and sent, once the draft is published.
        </p>
        <form className="inline" role="search" onSubmit={(event) => event.preventDefault()}>
          <Field label="Show">
            {(ids) => (
              <select
                {...ids}
                value={state}
                onChange={(event) => setState(event.target.value as Finding['state'] | '')}
              >
                <option value="">All</option>
                {Object.entries(stateWords).map(([one, [, word]]) => (
                  <option key={one} value={one}>
                    {word}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </form>
        <ErrorNote error={download.error} />
      </div>
      <Waiting query={query} />
      {query.isSuccess && rows.length === 0 ? <Empty title="No property in this list." /> : null}
      {rows.length === 0 ? null : (
        <Table
          label="Properties that look personal"
          rows={rows}
          keyOf={({ event, property }) => JSON.stringify([event, property])}
          columns={[
            {
              title: 'Property',
              cell: ({ event, property }) => (
                <div className="stack tight">
                  <code className="clip" dir="auto">
                    {property}
                  </code>
                  <span className="hint" dir="auto">
                    {event === '*' ? 'of every event' : `of ${event}`}
                  </span>
                </div>
              ),
            },
            {
              title: 'Looks like',
              cell: ({ kind, basis }) => (
                <div className="stack tight">
                  <span>{kindWords[kind]}</span>
                  <span className="hint">{basisWords[basis]}</span>
                </div>
              ),
            },
            { title: 'Shape', cell: ({ shape }) => <code dir="auto">{shape}</code> },
            {
              title: 'Values',
              isNumber: true,
              cell: ({ matched, seen }) => `${matched.toLocaleString()} of ${seen.toLocaleString()}`,
            },
            { title: 'Last', cell: ({ lastAt }) => <Ago at={lastAt} /> },
            { title: 'State', cell: (finding) => <FindingState finding={finding} /> },
          ]}
        />
      )}
    </Card>
  );
}

function FindingState({ finding }: { readonly finding: Finding }): ReactElement {
  const { event, property, state, proposal } = finding;
  const mayPropose = useScope('dataGovernanceRules:create');
  const mayDismiss = useScope('dataGovernanceRules:update');
  const propose = useChange((more: ProposalAt | undefined) =>
    request('POST', '/personal-data/propose', { event, property, ...more }),
  );
  const dismiss = useChange((isPersonal: boolean) =>
    request('PATCH', '/personal-data', { event, property, isPersonal }),
  );
  const [tone, word] = stateWords[state];
  return (
    <div className="stack tight">
      <State tone={tone}>{word}</State>
      {state === 'drafted' || propose.isSuccess ? <Link to="/draft">View the draft</Link> : null}
      {state === 'open' && mayPropose ? (
        <>
          <button type="button" disabled={propose.isPending} onClick={() => propose.mutate(undefined)}>
            {proposal === 'Omit' ? 'Omit it in the draft' : 'Redact it in the draft'}
          </button>
          {/^event_properties\.[^.]+$/.test(property) ? (
            <ProposeAt isPending={propose.isPending} onPropose={(more) => propose.mutate(more)} />
          ) : null}
        </>
      ) : null}
      {mayDismiss && (state === 'open' || state === 'dismissed') ? (
        <button
          type="button"
          className="plain"
          disabled={dismiss.isPending}
          onClick={() => dismiss.mutate(state !== 'open')}
        >
          {state === 'open' ? 'Not personal' : 'Personal after all'}
        </button>
      ) : null}
      <ErrorNote error={propose.error ?? dismiss.error} />
    </div>
  );
}

type ProposalAt = { readonly action: 'Hash' | 'Encrypt'; readonly destinationId: string };

/**
 * Adds to the draft a mapping that hashes or encrypts the property at one destination. The list of destinations is
 * loaded when the user opens the menu.
 */
function ProposeAt(props: { readonly isPending: boolean; onPropose(proposal: ProposalAt): void }): ReactElement {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>At one destination</summary>
      {isOpen ? <DestinationChoice {...props} /> : null}
    </details>
  );
}

function DestinationChoice({
  isPending,
  onPropose,
}: {
  readonly isPending: boolean;
  onPropose(proposal: ProposalAt): void;
}): ReactElement {
  const [chosen, setChosen] = useState('');
  return (
    <div className="stack tight">
      <NamedChoice label="Destination" of="destinations" none="Choose one" value={chosen} onChange={setChosen} />
      {(['Hash', 'Encrypt'] as const).map((action) => (
        <button
          key={action}
          type="button"
          disabled={isPending || chosen === ''}
          onClick={() => onPropose({ action, destinationId: chosen })}
        >
          {`${action} it in the draft`}
        </button>
      ))}
    </div>
  );
}
