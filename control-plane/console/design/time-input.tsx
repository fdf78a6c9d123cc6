import type { ReactElement } from 'react';
import { Field } from './field.tsx';
import { localTime, readTime } from './local-time.ts';
import { At, Day } from './time.tsx';

export type TimeInputProps = {
  readonly label: string;
  /** A day is in UTC; a minute or second is in the viewer's zone. */
  readonly of: 'day' | 'minute' | 'second';
  /** As the field gives it, or the instant of a link, which is kept until the field is edited. */
  readonly value: string;
  readonly hint?: string;
  readonly required?: boolean;
  readonly onChange: (value: string) => void;
};

/**
 * A field for a time. The browser shows the time in its own format, in which day and month can be confused, so the
 * chosen time is repeated below in the console's format.
 */
export function TimeInput({ label, of, value, hint, required, onChange }: TimeInputProps): ReactElement {
  const atMs = readTime(value);
  const isKnown = !Number.isNaN(atMs);
  const read = isKnown ? of === 'day' ? <Day at={value} /> : <At at={atMs} /> : null;
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
          required={required}
          type={of === 'day' ? 'date' : 'datetime-local'}
          {...(of === 'second' ? { step: 1 } : {})}
          // Without a maximum, browsers accept years of six digits.
          max={of === 'day' ? '9999-12-31' : '9999-12-31T23:59'}
          value={isKnown && of !== 'day' && value.endsWith('Z') ? localTime(atMs, of) : value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
