import type { ReactElement } from 'react';
import { NamedChecks } from '../forms/named-checks.tsx';
import { AccountTrial } from './account-trial.tsx';
import { DescriptionField } from './description-field.tsx';
import { useTriedEvent } from './event-choice.tsx';
import { TextField } from './rule-fields.tsx';
import { RulePage } from './rule-page.tsx';
import type { RuleForm } from './rule-page.tsx';
import type { AllowedEventFields } from './rule.ts';
import { newRuleId } from './use-trial.ts';

/** An allowed event, or a new one, and its destinations. */
export function AllowedEventPage(): ReactElement {
  return (
    <RulePage<AllowedEventFields>
      collection="allowedEvents"
      noun="allowed event"
      newTitle="Allow an event"
      lead="Once one event is listed, only listed events are sent."
      list={{ to: '/rules/events', label: 'Allowed events' }}
      pathOf={(id) => `/rules/events/${id}`}
      empty={{ name: '', description: null, destinationIds: [] }}
      form={({ fields, change }) => (
        <>
          <TextField
            label="Event name"
            hint="Not case-sensitive."
            isRequired
            maxLength={1_000}
            value={fields.name}
            onChange={(name) => change({ name })}
          />
          <DescriptionField value={fields.description} onChange={(description) => change({ description })} />
          <NamedChecks
            legend="Destinations"
            of="destinations"
            none="None selected."
            ids={fields.destinationIds}
            onChange={(destinationIds) => change({ destinationIds })}
          />
        </>
      )}
      beside={(form) => <Trial form={form} />}
    />
  );
}

function Trial({ form: { id, fields } }: { readonly form: RuleForm<AllowedEventFields> }): ReactElement {
  // A rule without a name is not tried, because it cannot be saved either.
  const standIns = fields.name === '' ? {} : { allowedEvents: { id: id ?? newRuleId, fields } };
  return <AccountTrial tried={useTriedEvent()} standIns={standIns} />;
}
