import type { ReactElement } from 'react';
import { Check, Field } from '../design/field.tsx';
import { DescriptionField } from '../rules/description-field.tsx';
import { ChoiceField, TextField, textOrNull } from '../rules/rule-fields.tsx';
import { RulePage } from '../rules/rule-page.tsx';
import type { RuleForm } from '../rules/rule-page.tsx';
import type { RuleFields } from '../rules/rule.ts';
import { PlanTrial } from './plan-trial.tsx';
import { actionWords } from './plan-words.tsx';

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
  Required: 'is present',
  Forbidden: 'is absent',
  Type: 'is of a type',
  Pattern: 'matches a pattern',
  OneOf: 'is one of some values',
  Range: 'is a number within a range',
};

const severityWords: Readonly<Record<RuleFields['severity'], string>> = {
  Info: 'Info',
  Warning: 'Warning',
  Error: 'Error',
};

/** One rule of the tracking plan, or a new one. */
export function PlanRulePage(): ReactElement {
  return (
    <RulePage<RuleFields>
      collection="dataGovernanceRules"
      noun="rule"
      newTitle="New rule"
      lead="A rule checks one property of events and decides what happens to an event that breaks it."
      list={{ to: '/tracking-plan/rules', label: 'Tracking plan' }}
      pathOf={(id) => `/tracking-plan/rules/${id}`}
      empty={emptyRule}
      form={(form) => <PlanRuleFields {...form} />}
      below={<PlanTrial />}
    />
  );
}

/** By rule type: label and hint of the field `expected`. */
const expectedWords: { readonly [Type in RuleFields['type']]?: { readonly label: string; readonly hint: string } } = {
  Pattern: { label: 'Pattern', hint: 'A regular expression (RE2).' },
  OneOf: { label: 'Values', hint: 'A list in JSON, such as ["EUR", "USD"] or [1, 2, true].' },
  Range: { label: 'Range', hint: 'Both ends are included, and one may be left out: 0..100, 1.. or ..0.' },
};

function PlanRuleFields({ fields, change }: RuleForm<RuleFields>): ReactElement {
  const expected = expectedWords[fields.type];
  return (
    <>
      <TextField label="Name" isRequired maxLength={250} value={fields.name} onChange={(name) => change({ name })} />
      <DescriptionField value={fields.description} onChange={(description) => change({ description })} />
      <Check label="Enabled" checked={fields.isEnabled} onChange={(isEnabled) => change({ isEnabled })} />
      <TextField
        label="Event"
        hint="Its name, not case-sensitive. Leave empty for every event."
        maxLength={1_000}
        value={fields.eventName}
        onChange={(eventName) => change({ eventName: textOrNull(eventName) })}
      />
      <TextField
        label="Property"
        hint="Such as event_properties.total, default_properties.current_url or visitor.email, as sent in the event."
        isRequired
        maxLength={500}
        value={fields.property}
        onChange={(property) => change({ property })}
      />
      <ChoiceField
        label="The rule passes when the property"
        words={typeWords}
        value={fields.type}
        onChange={(type) => change({ type, expected: null })}
      />
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
      {expected === undefined ? null : (
        <TextField
          label={expected.label}
          hint={expected.hint}
          maxLength={2_000}
          value={fields.expected}
          onChange={(given) => change({ expected: given })}
        />
      )}
      <ChoiceField
        label="If it fails"
        words={actionWords}
        value={fields.action}
        onChange={(action) => change({ action })}
      />
      <ChoiceField
        label="Severity"
        hint="A Warning shows on the overview. An Error also raises an alert."
        words={severityWords}
        value={fields.severity}
        onChange={(severity) => change({ severity })}
      />
    </>
  );
}
