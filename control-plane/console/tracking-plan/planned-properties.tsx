import { useState } from 'react';
import type { ReactElement } from 'react';
import { Check, Field } from '../design/field.tsx';
import type { PlannedProperty } from '../rules/rule.ts';
import { readAllowedValues, writeAllowedValues } from './allowed-values.ts';

type PlannedPropertiesProps = {
  readonly properties: readonly PlannedProperty[];
  readonly onChange: (properties: readonly PlannedProperty[]) => void;
};

const types = ['string', 'number', 'boolean', 'object', 'array', 'any'] as const;
const emptyProperty: PlannedProperty = { name: '', type: 'string', isRequired: false, description: null };

/** Fields for the properties of a planned event, which can be added and removed. */
export function PlannedProperties({ properties, onChange }: PlannedPropertiesProps): ReactElement {
  const changeAt = (index: number, changed: PlannedProperty): void => onChange(properties.with(index, changed));
  return (
    <fieldset className="stack">
      <legend>Properties</legend>
      {properties.map((property, index) => (
        // Rows have no ids. The number of rows in the key redraws all of them when one is added or removed.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={`${index} of ${properties.length}`} className="row">
          <PropertyRow property={property} place={index + 1} onChange={(changed) => changeAt(index, changed)} />
          <button
            type="button"
            aria-label={`Remove property ${index + 1}`}
            onClick={() => onChange(properties.toSpliced(index, 1))}
          >
            Remove
          </button>
        </div>
      ))}
      <div>
        <button type="button" onClick={() => onChange([...properties, emptyProperty])}>
          Add a property
        </button>
      </div>
    </fieldset>
  );
}

type PropertyRowProps = {
  readonly property: PlannedProperty;
  readonly place: number;
  readonly onChange: (property: PlannedProperty) => void;
};

function PropertyRow({ property, place, onChange }: PropertyRowProps): ReactElement {
  const { name, type, isRequired, allowedValues } = property;
  const [values, setValues] = useState(writeAllowedValues(allowedValues));
  const change = (changed: Partial<PlannedProperty>, text = values): void => {
    const next = { ...property, ...changed };
    onChange({ ...next, allowedValues: next.type === 'object' ? null : readAllowedValues(text, next.type) });
  };
  return (
    <>
      <Field label={`Property ${place}`}>
        {(ids) => (
          <input
            {...ids}
            required
            maxLength={250}
            placeholder="total"
            value={name}
            onChange={(event) => change({ name: event.target.value })}
          />
        )}
      </Field>
      <Field label="Type">
        {(ids) => (
          <select
            {...ids}
            value={type}
            onChange={(event) => change({ type: event.target.value as PlannedProperty['type'] })}
          >
            {types.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        )}
      </Field>
      <Check label="Required" checked={isRequired} onChange={(required) => change({ isRequired: required })} />
      <Field label="Allowed values" hint="Separated by commas. Leave empty for any value.">
        {(ids) => (
          <input
            {...ids}
            disabled={type === 'object'}
            value={type === 'object' ? '' : values}
            onChange={(event) => {
              setValues(event.target.value);
              change({}, event.target.value);
            }}
          />
        )}
      </Field>
    </>
  );
}
