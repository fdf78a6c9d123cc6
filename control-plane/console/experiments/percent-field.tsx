import type { ReactElement } from 'react';
import { Field } from '../design/field.tsx';

export type PercentFieldProps = {
  readonly label: string;
  readonly hint?: string;
  readonly value: number;
  readonly onChange: (value: number) => void;
};

/** A field for a percentage in steps of 0.01. An empty field counts as 0. */
export function PercentField({ label, hint, value, onChange }: PercentFieldProps): ReactElement {
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      {(ids) => (
        <input
          {...ids}
          type="number"
          min={0}
          max={100}
          step={0.01}
          value={value}
          onChange={(event) => onChange(event.target.valueAsNumber || 0)}
        />
      )}
    </Field>
  );
}
