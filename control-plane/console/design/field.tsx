import { useId } from 'react';
import type { ReactElement, ReactNode } from 'react';

export type FieldProps = {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly children: (ids: { readonly id: string; readonly 'aria-describedby': string | undefined }) => ReactNode;
};

/** A label with its input. */
export function Field({ label, hint, error, children }: FieldProps): ReactElement {
  const id = useId();
  const described = hint === undefined && error === undefined ? undefined : `${id}-more`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': described })}
      <div id={`${id}-more`}>
        {hint === undefined ? null : <div className="hint">{hint}</div>}
        {error === undefined ? null : <div className="field-error">{error}</div>}
      </div>
    </div>
  );
}

export type CheckProps = {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
};

export function Check({ label, checked, onChange }: CheckProps): ReactElement {
  const id = useId();
  return (
    <div className="check">
      <input id={id} type="checkbox" checked={checked} onChange={(event) => onChange(event.target.checked)} />
      <label htmlFor={id}>{label}</label>
    </div>
  );
}
