import { useState } from 'react';
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

type PriorityFieldProps = {
  readonly hint?: ReactNode;
  readonly value: number;
  readonly onChange: (value: number) => void;
};

/** A field for a priority: any whole number. While the text is none, such as a lone minus, the last number stays. */
export function PriorityField({ hint, value, onChange }: PriorityFieldProps): ReactElement {
  const [text, setText] = useState(String(value));
  return (
    <Field label="Priority" hint={hint}>
      {(ids) => (
        <input
          {...ids}
          type="number"
          step={1}
          required
          value={text === '' || Number(text) === value ? text : value}
          onChange={({ target }) => {
            setText(target.value);
            if (!Number.isNaN(target.valueAsNumber)) onChange(Math.trunc(target.valueAsNumber));
          }}
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
