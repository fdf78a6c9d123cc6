import { useState } from 'react';
import type { ReactElement } from 'react';
import { useParams } from 'react-router';
import { Waiting } from '../design/feedback.tsx';
import { Check, Field } from '../design/field.tsx';
import { Card, Page } from '../design/page.tsx';
import { DescriptionField } from '../rules/description-field.tsx';
import { KeptForm } from '../rules/kept-form.tsx';
import { fieldsOf } from '../rules/rule.ts';
import type { RuleFields } from '../rules/rule.ts';
import { useKept } from '../rules/use-kept.ts';
import type { KeptRule } from '../rules/use-kept.ts';
import { PlanTrial } from './plan-trial.tsx';
import { actionWords } from './plan-words.tsx';
import type { PlanAction } from './plan-words.tsx';

/** One rule of the tracking plan, or a new one. */
export function PlanRulePage(): ReactElement {
  const { id } = useParams();
  const kept = useKept<RuleFields>('dataGovernanceRules', id);
  const stored = kept.query.data;
  return (
    <Page
      title={id === undefined ? 'New rule' : (stored?.name ?? id)}
      lead="A rule looks at one property of events, and says what becomes of an event that breaks it."
      back={{ to: '/tracking-plan/rules', label: 'Tracking plan' }}
    >
      {id === undefined ? null : <Waiting query={kept.query} />}
      {id === undefined || stored !== undefined ? (
        <RuleForm key={id ?? ''} id={id} kept={kept} initial={stored === undefined ? emptyRule : fieldsOf(stored)} />
      ) : null}
      {id === undefined ? null : <PlanTrial />}
    </Page>
  );
}

const emptyRule: RuleFields = {
  name: '',
  description: null,
  isEnabled: true,
  severity: 'Warning',
  eventName: null,
  property: 'event_properties.',
  type: 'Forbidden',
  expected: null,
  action: 'Report',
};

const typeWords: Readonly<Record<RuleFields['type'], string>> = {
  Required: 'is there',
  Forbidden: 'is not there',
  Type: 'is of a type',
  Pattern: 'matches a pattern',
};

type RuleFormProps = {
  readonly id: string | undefined;
  readonly kept: KeptRule<RuleFields>;
  readonly initial: RuleFields;
};

function RuleForm({ id, kept, initial }: RuleFormProps): ReactElement {
  const [fields, setFields] = useState(initial);
  const change = (changed: Partial<RuleFields>): void => setFields({ ...fields, ...changed });
  return (
    <Card>
      <KeptForm
        kept={kept}
        isNew={id === undefined}
        fields={fields}
        noun="rule"
        listPath="/tracking-plan/rules"
        pathOf={(one) => `/tracking-plan/rules/${one}`}
      >
        <Field label="Name">
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
        <Check label="On" checked={fields.isEnabled} onChange={(isEnabled) => change({ isEnabled })} />
        <Field label="Event" hint="Its name, not case-sensitive. Empty: every event.">
          {(ids) => (
            <input
              {...ids}
              maxLength={1_000}
              value={fields.eventName ?? ''}
              onChange={(event) => change({ eventName: event.target.value === '' ? null : event.target.value })}
            />
          )}
        </Field>
        <Field
          label="Property"
          hint="Such as event_properties.total, default_properties.current_url or visitor.email, as the event itself gives it."
        >
          {(ids) => (
            <input
              {...ids}
              required
              maxLength={500}
              value={fields.property}
              onChange={(event) => change({ property: event.target.value })}
            />
          )}
        </Field>
        <Field label="The rule is kept where the property">
          {(ids) => (
            <select
              {...ids}
              value={fields.type}
              onChange={(event) => change({ type: event.target.value as RuleFields['type'], expected: null })}
            >
              {Object.entries(typeWords).map(([type, word]) => (
                <option key={type} value={type}>
                  {word}
                </option>
              ))}
            </select>
          )}
        </Field>
        {fields.type === 'Type' ? (
          <Field label="Type">
            {(ids) => (
              <select
                {...ids}
                value={fields.expected ?? ''}
                onChange={(event) => change({ expected: event.target.value })}
              >
                <option value="" disabled>
                  Choose one
                </option>
                {['string', 'number', 'boolean', 'object', 'array'].map((type) => (
                  <option key={type}>{type}</option>
                ))}
              </select>
            )}
          </Field>
        ) : null}
        {fields.type === 'Pattern' ? (
          <Field label="Pattern" hint="A regular expression (RE2).">
            {(ids) => (
              <input
                {...ids}
                value={fields.expected ?? ''}
                onChange={(event) => change({ expected: event.target.value })}
              />
            )}
          </Field>
        ) : null}
        <Field label="Otherwise">
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
        <Field label="Severity" hint="A Warning stands on the overview. An Error raises an alert, too.">
          {(ids) => (
            <select
              {...ids}
              value={fields.severity}
              onChange={(event) => change({ severity: event.target.value as RuleFields['severity'] })}
            >
              <option>Info</option>
              <option>Warning</option>
              <option>Error</option>
            </select>
          )}
        </Field>
      </KeptForm>
    </Card>
  );
}
