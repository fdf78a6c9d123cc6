import { useMemo } from 'react';
import type { ReactElement } from 'react';
import { Field } from './field.tsx';
import { countOf } from './numbers.ts';

const dayMs = 86_400_000;
const choices = [1, 7, 14] as const;

export type OlderThanFieldProps = {
  readonly label: string;
  /** The chosen number of days, or ''. */
  readonly days: string;
  readonly onChange: (days: string) => void;
};

/** Chooses entries that are older than a number of days. */
export function OlderThanField({ label, days, onChange }: OlderThanFieldProps): ReactElement {
  return (
    <Field label={label}>
      {(ids) => (
        <select {...ids} value={days} onChange={(event) => onChange(event.target.value)}>
          <option value="">at any time</option>
          {choices.map((one) => (
            <option key={one} value={one}>
              more than {countOf(one, 'day')} ago
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** The time that was `days` ago when `days` was chosen. A time that moves with the clock would request a new list. */
export function useTimeBefore(days: string): string | undefined {
  return useMemo(
    () => (Number(days) > 0 ? new Date(Date.now() - Number(days) * dayMs).toISOString() : undefined),
    [days],
  );
}
