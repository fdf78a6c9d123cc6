import type { ReactElement } from 'react';
import { DescriptionField } from '../rules/description-field.tsx';
import { ChoiceField, TextField, textOrNull } from '../rules/rule-fields.tsx';
import { RulePage } from '../rules/rule-page.tsx';
import type { EventFields } from '../rules/rule.ts';
import { PlanTrial } from './plan-trial.tsx';
import { actionWords } from './plan-words.tsx';
import { PlannedProperties } from './planned-properties.tsx';

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

/** One event of the tracking plan, or a new one. */
export function PlannedEventPage(): ReactElement {
  return (
    <RulePage<EventFields>
      collection="dataGovernanceEvents"
      noun="planned event"
      newTitle="New planned event"
      lead="A planned event lists the properties that an event carries, their types and their allowed values."
      list={{ to: '/tracking-plan/rules', label: 'Tracking plan' }}
      pathOf={(id) => `/tracking-plan/events/${id}`}
      empty={emptyEvent}
      form={({ fields, change }) => (
        <>
          <TextField
            label="Name"
            hint="As it is sent. Not case-sensitive."
            isRequired
            maxLength={1_000}
            value={fields.name}
            onChange={(name) => change({ name })}
          />
          <DescriptionField value={fields.description} onChange={(description) => change({ description })} />
          <TextField
            label="Owner"
            hint="The team or person to ask about it."
            maxLength={250}
            value={fields.owner}
            onChange={(owner) => change({ owner: textOrNull(owner) })}
          />
          <ChoiceField
            label="Status"
            words={statusWords}
            value={fields.status}
            onChange={(status) => change({ status })}
          />
          <PlannedProperties properties={fields.properties} onChange={(properties) => change({ properties })} />
          <ChoiceField
            label="Events that violate it"
            hint="Unlisted properties follow the account's setting for unknown properties."
            words={actionWords}
            value={fields.action}
            onChange={(action) => change({ action })}
          />
        </>
      )}
      below={<PlanTrial />}
    />
  );
}
