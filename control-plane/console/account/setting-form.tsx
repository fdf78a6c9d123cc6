import { useState } from 'react';
import type { ReactElement } from 'react';
import { useChange } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { Account } from '../api/types.ts';
import { ErrorNote, State } from '../design/feedback.tsx';
import { Check } from '../design/field.tsx';
import { EditForm, WhileSaved } from '../forms/edit-form.tsx';

export type SettingFormProps = {
  readonly account: Account;
  readonly field: 'masksPersonalData' | 'requiresApproval';
  readonly label: string;
  readonly mayChange: boolean;
};

/** A boolean setting of the account. It takes effect immediately. */
export function SettingForm({ account, field, label, mayChange }: SettingFormProps): ReactElement {
  const [isChecked, setChecked] = useState(account[field]);
  const save = useChange((value: boolean) => request<Account>('PATCH', '/account', { [field]: value }));
  return (
    <EditForm values={isChecked} save={save} onSubmit={() => save.mutate(isChecked)}>
      <Check label={label} checked={isChecked} onChange={setChecked} />
      <ErrorNote error={save.error} />
      <div className="row">
        <button type="submit" disabled={save.isPending || !mayChange}>
          {save.isPending ? 'Applying …' : 'Apply'}
        </button>
        <WhileSaved>{save.isSuccess ? <State tone="good">Applied.</State> : null}</WhileSaved>
      </div>
    </EditForm>
  );
}
