import { useState } from 'react';
import type { ReactElement } from 'react';
import { useParams } from 'react-router';
import { Waiting } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { Card, Page } from '../design/page.tsx';
import { DescriptionField } from '../rules/description-field.tsx';
import { KeptForm } from '../rules/kept-form.tsx';
import { fieldsOf } from '../rules/rule.ts';
import type { EventFields } from '../rules/rule.ts';
import { useKept } from '../rules/use-kept.ts';
import type { KeptRule } from '../rules/use-kept.ts';
import { PlanTrial } from './plan-trial.tsx';
import { actionWords } from './plan-words.tsx';
import type { PlanAction } from './plan-words.tsx';
import { PlannedProperties } from './planned-properties.tsx';

/** One event of the tracking plan, or a new one. */
export function PlannedEventPage(): ReactElement {
  const { id } = useParams();
  const kept = useKept<EventFields>('dataGovernanceEvents', id);
  const stored = kept.query.data;
  return (
    <Page
      title={id === undefined ? 'New planned event' : (stored?.name ?? id)}
      lead="A planned event lists the properties that an event carries, their types and their allowed values."
      back={{ to: '/tracking-plan/rules', label: 'Tracking plan' }}
    >
      {id === undefined ? null : <Waiting query={kept.query} />}
      {id === undefined || stored !== undefined ? (
        <EventForm key={id ?? ''} id={id} kept={kept} initial={stored === undefined ? emptyEvent : fieldsOf(stored)} />
      ) : null}
      {id === undefined ? null : <PlanTrial />}
    </Page>
  );
}

const emptyEvent: EventFields = {
  name: '',
  description: null,
  status: 'Proposed',
  owner: null,
  action: 'Report',
  properties: [],
};

const statusWords: Readonly<Record<EventFields['status'], string>> = {
  Proposed: 'Proposed: known, not checked yet',
  Approved: 'Approved: checked; other events become unknown',
  Deprecated: 'Deprecated: checked and reported',
};

type EventFormProps = {
  readonly id: string | undefined;
  readonly kept: KeptRule<EventFields>;
  readonly initial: EventFields;
};

function EventForm({ id, kept, initial }: EventFormProps): ReactElement {
  const [fields, setFields] = useState(initial);
  const change = (changed: Partial<EventFields>): void => setFields({ ...fields, ...changed });
  return (
    <Card>
      <KeptForm
        kept={kept}
        isNew={id === undefined}
        fields={fields}
        noun="planned event"
        listPath="/tracking-plan/rules"
        pathOf={(one) => `/tracking-plan/events/${one}`}
      >
        <Field label="Name" hint="As senders spell it; not case-sensitive.">
          {(ids) => (
            <input
              {...ids}
              required
              maxLength={1_000}
              value={fields.name}
              onChange={(event) => change({ name: event.target.value })}
            />
          )}
        </Field>
        <DescriptionField value={fields.description} onChange={(description) => change({ description })} />
        <Field label="Owner" hint="The team or person to ask about it.">
          {(ids) => (
            <input
              {...ids}
              maxLength={250}
              value={fields.owner ?? ''}
              onChange={(event) => change({ owner: event.target.value === '' ? null : event.target.value })}
            />
          )}
        </Field>
        <Field label="Status">
          {(ids) => (
            <select
              {...ids}
              value={fields.status}
              onChange={(event) => change({ status: event.target.value as EventFields['status'] })}
            >
              {Object.entries(statusWords).map(([status, word]) => (
                <option key={status} value={status}>
                  {word}
                </option>
              ))}
            </select>
          )}
        </Field>
        <PlannedProperties properties={fields.properties} onChange={(properties) => change({ properties })} />
        <Field
          label="Events that break it"
          hint="Unlisted properties follow the account's setting for unknown properties."
        >
          {(ids) => (
            <select
              {...ids}
              value={fields.action}
              onChange={(event) => change({ action: event.target.value as PlanAction })}
            >
              {Object.entries(actionWords).map(([action, word]) => (
                <option key={action} value={action}>
                  {word}
                </option>
              ))}
            </select>
          )}
        </Field>
      </KeptForm>
    </Card>
  );
}
