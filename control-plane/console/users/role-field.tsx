import type { ReactElement } from 'react';
import type { Role } from '../api/types.ts';
import { Field } from '../design/field.tsx';

export type RoleFieldProps = {
  readonly label: string;
  readonly roles: readonly Role[];
  /** The id of the chosen role. */
  readonly role: string;
  readonly onChange: (role: string) => void;
};

/** Chooses a role; its hint says what the role allows. */
export function RoleField({ label, roles, role, onChange }: RoleFieldProps): ReactElement {
  return (
    <Field label={label} hint={roles.find(({ id }) => id === role)?.summary}>
      {(ids) => (
        <select {...ids} value={role} onChange={(event) => onChange(event.target.value)}>
          {roles.map((one) => (
            <option key={one.id} value={one.id}>
              {one.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
