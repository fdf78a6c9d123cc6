import { useState } from 'react';
import type { ReactElement } from 'react';
import { useParams } from 'react-router';
import { Waiting } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { DescriptionField } from './description-field.tsx';
import { Card, Page } from '../design/page.tsx';
import { AccountTrial } from './account-trial.tsx';
import { DestinationChecks } from './destination-checks.tsx';
import { useTriedEvent } from './event-choice.tsx';
import { KeptForm } from './kept-form.tsx';
import { fieldsOf } from './rule.ts';
import type { AllowedEventFields } from './rule.ts';
import './rules.css';
import { useKept } from './use-kept.ts';
import type { KeptRule } from './use-kept.ts';
import { newRuleId } from './use-trial.ts';

/** An event that may leave, or a new one, and where it then goes. */
export function AllowedEventPage(): ReactElement {
  const { id } = useParams();
  const kept = useKept<AllowedEventFields>('allowedEvents', id);
  const stored = kept.query.data;
  return (
    <Page
      title={id === undefined ? 'Allow an event' : (stored?.name ?? id)}
      lead="Once one event is listed, only listed events are sent."
      back={{ to: '/rules/events', label: 'Allowed events' }}
    >
      {id === undefined ? null : <Waiting query={kept.query} />}
      {id === undefined || stored !== undefined ? (
        <AllowedEventForm
          key={id ?? ''}
          id={id}
          kept={kept}
          initial={stored === undefined ? { name: '', description: null, destinationIds: [] } : fieldsOf(stored)}
        />
      ) : null}
    </Page>
  );
}

type AllowedEventFormProps = {
  readonly id: string | undefined;
  readonly kept: KeptRule<AllowedEventFields>;
  readonly initial: AllowedEventFields;
};

function AllowedEventForm({ id, kept, initial }: AllowedEventFormProps): ReactElement {
  const tried = useTriedEvent();
  const [fields, setFields] = useState(initial);
  const change = (changed: Partial<AllowedEventFields>): void => setFields({ ...fields, ...changed });
  // Nothing is asked of a rule without a name: it could not be kept either.
  const standIns = fields.name === '' ? {} : { allowedEvents: { id: id ?? newRuleId, fields } };
  return (
    <div className="editor">
      <Card>
        <KeptForm
          kept={kept}
          isNew={id === undefined}
          fields={fields}
          noun="allowed event"
          listPath="/rules/events"
          pathOf={(one) => `/rules/events/${one}`}
        >
          <Field label="Event name" hint="Not case-sensitive.">
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
          <DestinationChecks
            legend="Destinations"
            ids={fields.destinationIds}
            onChange={(destinationIds) => change({ destinationIds })}
          />
        </KeptForm>
      </Card>
      <AccountTrial tried={tried} standIns={standIns} />
    </div>
  );
}
