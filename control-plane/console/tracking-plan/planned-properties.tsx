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
  const [stored] = useState(allowedValues);
  const [values, setValues] = useState(() => writeAllowedValues(stored, type));
  const change = (changed: Partial<PlannedProperty>): void => onChange({ ...property, ...changed });
  // Only an edit of the type or the values reads the text, so that no other edit changes the values.
  const allowedAs = (next: PlannedProperty['type'], text: string): ReturnType<typeof readAllowedValues> =>
    next === 'object' ? null : readAllowedValues(text, next, stored);
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
            onChange={(event) => {
              const next = event.target.value as PlannedProperty['type'];
              change({ type: next, allowedValues: allowedAs(next, values) });
            }}
          >
            {types.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        )}
      </Field>
      <Check label="Required" checked={isRequired} onChange={(required) => change({ isRequired: required })} />
      <Field label="Allowed values" hint='Separated by commas; "a, b" is one value. Leave empty for any.'>
        {(ids) => (
          <input
            {...ids}
            disabled={type === 'object'}
            value={type === 'object' ? '' : values}
            onChange={(event) => {
              setValues(event.target.value);
              change({ allowedValues: allowedAs(type, event.target.value) });
            }}
          />
        )}
      </Field>
    </>
  );
}
