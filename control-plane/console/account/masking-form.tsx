import { useState } from 'react';
import type { ReactElement } from 'react';
import { useChange } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { Account } from '../api/types.ts';
import { ErrorNote, State } from '../design/feedback.tsx';
import { Check } from '../design/field.tsx';

/** Whether keys without `pii:read` see personal values. */
export function MaskingForm({
  masks,
  mayChange,
}: {
  readonly masks: boolean;
  readonly mayChange: boolean;
}): ReactElement {
  const [isChecked, setChecked] = useState(masks);
  const save = useChange((masksPersonalData: boolean) => request<Account>('PATCH', '/account', { masksPersonalData }));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate(isChecked);
      }}
    >
      <Check
        label="Keys without the scope pii:read see values of visitors and events by their shape only"
        checked={isChecked}
        onChange={setChecked}
      />
      <ErrorNote error={save.error} />
      <div className="row">
        <button type="submit" disabled={save.isPending || !mayChange}>
          {save.isPending ? 'Applying …' : 'Apply'}
        </button>
        {save.isSuccess ? <State tone="good">Applied.</State> : null}
      </div>
    </form>
  );
}
