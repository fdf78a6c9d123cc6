import type { ReactElement } from 'react';
import { Field } from './field.tsx';
import { countOf } from './numbers.ts';

const dayMs = 86_400_000;
const minuteMs = 60_000;
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

/** The time `days` ago, rounded down to a minute; with milliseconds, each render would request a different list. */
export function timeBefore(days: string): string | undefined {
  if (!(Number(days) > 0)) return undefined;
  const nowMinute = Math.floor(Date.now() / minuteMs) * minuteMs;
  return new Date(nowMinute - Number(days) * dayMs).toISOString();
}
