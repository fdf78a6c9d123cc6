import { useState } from 'react';
import type { FormEvent, ReactElement } from 'react';
import { useScope } from '../api/accounts.ts';
import { useRead } from '../api/queries.ts';
import type { BacklogLeft, Change } from '../api/types.ts';
import { ErrorNote } from '../design/feedback.tsx';
import { Check, Field } from '../design/field.tsx';
import { countOf } from '../design/numbers.ts';
import { Card } from '../design/page.tsx';
import { Backlogs } from './backlogs.tsx';

/** Rules that one publish can release. */
const rulesMax = 20;

export type PublishCardProps = {
  readonly changes: readonly Change[];
  readonly publish: { readonly error: unknown; readonly isPending: boolean; mutate(body: object): void };
};

/** What publishing the draft does, and the button that does it. */
export function PublishCard({ changes, publish }: PublishCardProps): ReactElement {
  const mayPublish = useScope('version:publish');
  const backlogs = useRead<{ readonly entities: readonly BacklogLeft[] }>('/versions/draft/backlogs', {
    everyMs: 10_000,
  });
  const [name, setName] = useState('');
  const [notes, setNotes] = useState('');
  const [isForced, setForced] = useState(false);
  const mayRelease = useScope('quarantine:release');
  const [isReleasing, setReleasing] = useState(false);
  const planned = changes
    .filter(({ collection }) => collection === 'dataGovernanceRules' || collection === 'dataGovernanceEvents')
    .slice(0, rulesMax)
    .map(({ id }) => id);
  const added = changes.filter((one) => one.collection === 'destinations' && one.change === 'added').length;
  const left = backlogs.data?.entities ?? [];
  const needsForce = left.some((one) => one.needsForce);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const force = needsForce && isForced ? { force: true } : {};
    const release = isReleasing && planned.length > 0 ? { releaseQuarantine: planned } : {};
    publish.mutate({ ...(name === '' ? {} : { name }), ...(notes === '' ? {} : { notes }), ...force, ...release });
  };
  return (
    <Card title="Publish">
      <ul>
        <li>Every gateway and pipeline switches to it without a restart.</li>
        {added > 0 ? (
          <li>{countOf(added, 'new destination')} will receive events from then on, not earlier ones.</li>
        ) : null}
        <li>You can roll back to the current version at any time.</li>
      </ul>
      <ErrorNote error={backlogs.error} />
      <Backlogs left={left} isForced={isForced} onForced={setForced} />
      <form onSubmit={submit}>
        <Field label="Name" hint="Optional. A name is generated when empty.">
          {(ids) => <input {...ids} maxLength={250} value={name} onChange={(event) => setName(event.target.value)} />}
        </Field>
        <Field label="Notes">
          {(ids) => (
            <textarea {...ids} maxLength={10_000} value={notes} onChange={(event) => setNotes(event.target.value)} />
          )}
        </Field>
        {planned.length > 0 && mayRelease ? (
          <Check
            label="Then release the events that the changed rules of the tracking plan hold"
            checked={isReleasing}
            onChange={setReleasing}
          />
        ) : null}
        {mayPublish ? null : <p className="note warn">This key lacks the scope version:publish.</p>}
        <ErrorNote error={publish.error} />
        <div className="row">
          <button
            className="primary"
            type="submit"
            disabled={publish.isPending || !mayPublish || (needsForce && !isForced)}
          >
            {publish.isPending ? 'Publishing …' : `Publish ${countOf(changes.length, 'change')}`}
          </button>
        </div>
      </form>
    </Card>
  );
}
