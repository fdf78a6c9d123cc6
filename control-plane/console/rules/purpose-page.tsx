import { useState } from 'react';
import type { ReactElement } from 'react';
import { useParams } from 'react-router';
import { Waiting } from '../design/feedback.tsx';
import { Check, Field } from '../design/field.tsx';
import { DescriptionField } from './description-field.tsx';
import { Card, Page } from '../design/page.tsx';
import { DestinationChecks } from './destination-checks.tsx';
import { KeptForm } from './kept-form.tsx';
import { fieldsOf } from './rule.ts';
import type { ConsentFields } from './rule.ts';
import './rules.css';
import { ListField, SignalFields } from './signal-fields.tsx';
import { useKept } from './use-kept.ts';
import type { KeptRule } from './use-kept.ts';

/** One purpose visitors are asked about, or a new one. */
export function PurposePage(): ReactElement {
  const { id } = useParams();
  const kept = useKept<ConsentFields>('consentSettings', id);
  const stored = kept.query.data;
  return (
    <Page
      title={id === undefined ? 'New purpose' : (stored?.name ?? id)}
      lead="A destination that serves this purpose gets the events of visitors who allow it, and no others."
      back={{ to: '/rules/consent', label: 'Consent' }}
    >
      {id === undefined ? null : <Waiting query={kept.query} />}
      {id === undefined || stored !== undefined ? (
        <PurposeForm
          key={id ?? ''}
          id={id}
          kept={kept}
          initial={stored === undefined ? emptyPurpose : fieldsOf(stored)}
        />
      ) : null}
    </Page>
  );
}

const emptyPurpose: ConsentFields = {
  name: '',
  description: null,
  isEnabled: true,
  defaultState: 'Denied',
  regions: null,
  destinationIds: [],
  signals: null,
};

type PurposeFormProps = {
  readonly id: string | undefined;
  readonly kept: KeptRule<ConsentFields>;
  readonly initial: ConsentFields;
};

function PurposeForm({ id, kept, initial }: PurposeFormProps): ReactElement {
  const [fields, setFields] = useState(initial);
  const change = (changed: Partial<ConsentFields>): void => setFields({ ...fields, ...changed });
  return (
    <div className="columns">
      <Card>
        <KeptForm
          kept={kept}
          isNew={id === undefined}
          fields={fields}
          noun="purpose"
          listPath="/rules/consent"
          pathOf={(one) => `/rules/purposes/${one}`}
        >
          <Field label="Name" hint="The name pages use: analytics, advertising.">
            {(ids) => (
              <input
                {...ids}
                required
                maxLength={250}
                value={fields.name}
                onChange={(event) => change({ name: event.target.value })}
              />
            )}
          </Field>
          <DescriptionField value={fields.description} onChange={(description) => change({ description })} />
          <Check
            label="On: events are stopped without consent"
            checked={fields.isEnabled}
            onChange={(isEnabled) => change({ isEnabled })}
          />
          <Field label="Default until a visitor decides">
            {(ids) => (
              <select
                {...ids}
                value={fields.defaultState}
                onChange={(event) => change({ defaultState: event.target.value === 'Granted' ? 'Granted' : 'Denied' })}
              >
                <option value="Denied">denied</option>
                <option value="Granted">granted</option>
              </select>
            )}
          </Field>
          <ListField
            label="Regions of the default"
            hint="ISO codes such as DE or US-CA, EU or EEA. Empty: everywhere. Outside of them the default is granted."
            value={fields.regions ?? []}
            onChange={(regions) => change({ regions: regions.length === 0 ? null : regions })}
          />
          <SignalFields signals={fields.signals} onChange={(signals) => change({ signals })} />
          <DestinationChecks
            legend="Destinations that serve it"
            ids={fields.destinationIds}
            onChange={(destinationIds) => change({ destinationIds })}
          />
        </KeptForm>
      </Card>
    </div>
  );
}
