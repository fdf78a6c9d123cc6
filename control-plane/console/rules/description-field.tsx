import type { ReactElement } from 'react';
import { Field } from '../design/field.tsx';

type DescriptionFieldProps = {
  readonly value: string | null | undefined;
  /** Called with null when the field is empty. */
  onChange(value: string | null): void;
};

export function DescriptionField({ value, onChange }: DescriptionFieldProps): ReactElement {
  return (
    <Field label="Description">
      {(ids) => (
        <textarea
          {...ids}
          maxLength={2_000}
          value={value ?? ''}
          onChange={(event) => onChange(event.target.value === '' ? null : event.target.value)}
        />
      )}
    </Field>
  );
}
