import type { ReactElement } from 'react';
import { At, Day } from './time.tsx';
import { Field } from './field.tsx';

export type TimeInputProps = {
  readonly label: string;
  /** A day is in UTC; a minute or second is in the viewer's zone. */
  readonly of: 'day' | 'minute' | 'second';
  readonly value: string;
  readonly hint?: string;
  readonly required?: boolean;
  readonly min?: string;
  readonly max?: string;
  readonly onChange: (value: string) => void;
};

/**
 * A field for a time. The browser shows the time in its own format, in which day and month can be confused, so the
 * chosen time is repeated below in the console's format.
 */
export function TimeInput({ label, of, value, hint, onChange, ...bounds }: TimeInputProps): ReactElement {
  const isKnown = !Number.isNaN(Date.parse(value));
  const read = isKnown ? of === 'day' ? <Day at={value} /> : <At at={value} /> : null;
  return (
    <Field
      label={label}
      hint={
        read === null && hint === undefined ? undefined : (
          <>
            {hint} {read}
          </>
        )
      }
    >
      {(ids) => (
        <input
          {...ids}
          {...bounds}
          type={of === 'day' ? 'date' : 'datetime-local'}
          {...(of === 'second' ? { step: 1 } : {})}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
