import type { ReactElement } from 'react';
import { Check } from '../design/field.tsx';
import { NamedChecks } from '../forms/named-checks.tsx';
import { DescriptionField } from './description-field.tsx';
import { ChoiceField, TextField } from './rule-fields.tsx';
import { RulePage } from './rule-page.tsx';
import type { ConsentFields } from './rule.ts';
import { ListField, SignalFields } from './signal-fields.tsx';

const emptyPurpose: ConsentFields = {
  name: '',
  description: null,
  isEnabled: true,
  defaultState: 'Denied',
  regions: null,
  destinationIds: [],
  signals: null,
};

const defaultWords: Readonly<Record<ConsentFields['defaultState'], string>> = { Denied: 'denied', Granted: 'granted' };

export function PurposePage(): ReactElement {
  return (
    <RulePage<ConsentFields>
      collection="consentSettings"
      noun="purpose"
      newTitle="New purpose"
      lead="A destination that serves this purpose receives the events of visitors who allow it, and no others."
      list={{ to: '/rules/consent', label: 'Consent' }}
      pathOf={(id) => `/rules/purposes/${id}`}
      empty={emptyPurpose}
      form={({ fields, change }) => (
        <>
          <TextField
            label="Name"
            hint="The name pages use: analytics, advertising."
            isRequired
            maxLength={250}
            value={fields.name}
            onChange={(name) => change({ name })}
          />
          <DescriptionField value={fields.description} onChange={(description) => change({ description })} />
          <Check
            label="Enforced: events without consent are stopped"
            checked={fields.isEnabled}
            onChange={(isEnabled) => change({ isEnabled })}
          />
          <ChoiceField
            label="Default until a visitor decides"
            words={defaultWords}
            value={fields.defaultState}
            onChange={(defaultState) => change({ defaultState })}
          />
          <ListField
            label="Regions of the default"
            hint="ISO codes such as DE or US-CA, EU or EEA. Leave empty for everywhere. Elsewhere, events count as granted by default; pages apply the default everywhere."
            value={fields.regions ?? []}
            onChange={(regions) => change({ regions: regions.length === 0 ? null : regions })}
          />
          <SignalFields signals={fields.signals} onChange={(signals) => change({ signals })} />
          <NamedChecks
            legend="Destinations that serve it"
            of="destinations"
            none="None selected."
            ids={fields.destinationIds}
            onChange={(destinationIds) => change({ destinationIds })}
          />
        </>
      )}
    />
  );
}
