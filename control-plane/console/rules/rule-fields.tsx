import type { ReactElement, ReactNode } from 'react';
import { Field } from '../design/field.tsx';

type TextFieldProps = {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly maxLength: number;
  readonly isRequired?: boolean;
  readonly value: string | null | undefined;
  readonly onChange: (value: string) => void;
};

/** A field for one line of text. */
export function TextField({
  label,
  hint,
  maxLength,
  isRequired = false,
  value,
  onChange,
}: TextFieldProps): ReactElement {
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <input
          {...ids}
          required={isRequired}
          maxLength={maxLength}
          value={value ?? ''}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

type ChoiceFieldProps<Value extends string> = {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly value: Value;
  /** The label of each value. */
  readonly words: Readonly<Record<Value, string>>;
  readonly onChange: (value: Value) => void;
};

/** A field for one of a few values. */
export function ChoiceField<Value extends string>(props: ChoiceFieldProps<Value>): ReactElement {
  const { label, hint, value, words, onChange } = props;
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <select {...ids} value={value} onChange={(event) => onChange(event.target.value as Value)}>
          {(Object.entries(words) as [Value, string][]).map(([one, word]) => (
            <option key={one} value={one}>
              {word}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** The text of a field; null if it is empty. */
export function textOrNull(text: string): string | null {
  return text === '' ? null : text;
}
