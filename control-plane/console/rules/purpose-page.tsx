import { useState } from 'react';
import type { ReactElement } from 'react';
import { Link, useParams } from 'react-router';
import { Waiting } from '../design/feedback.tsx';
import { Check, Field } from '../design/field.tsx';
import { DescriptionField } from './description-field.tsx';
import { Card, Page } from '../design/page.tsx';
import { DestinationChecks } from './destination-checks.tsx';
import { KeptForm } from './kept-form.tsx';
import { fieldsOf } from './rule.ts';
import type { ConsentFields } from './rule.ts';
import './rules.css';
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
      lead="What visitors are asked about, and the default until they decide."
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
            label="Visitors are asked"
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
          <DestinationChecks
            legend="Destinations"
            ids={fields.destinationIds}
            onChange={(destinationIds) => change({ destinationIds })}
          />
        </KeptForm>
      </Card>
      {id === undefined ? null : (
        <Card title="Enforce it">
          <p>
            Asking alone stops nothing. A dispatch rule does: it stops the events of visitors who did not agree for the
            destinations of this purpose. You can review it and try it on an event before saving.
          </p>
          <p>
            <Link className="button" to={`/rules/dispatch?consent=${encodeURIComponent(id)}`}>
              Create the dispatch rule
            </Link>
          </p>
        </Card>
      )}
    </div>
  );
}
