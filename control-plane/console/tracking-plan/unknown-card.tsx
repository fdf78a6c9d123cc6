import { useState } from 'react';
import type { ReactElement } from 'react';
import { useScope } from '../api/accounts.ts';
import { useRead } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { Account } from '../api/types.ts';
import { ErrorNote, State, Waiting } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { Card } from '../design/page.tsx';
import { EditForm, WhileSaved } from '../forms/edit-form.tsx';
import { useSave } from '../forms/use-save.ts';
import { actionWords } from './plan-words.tsx';
import type { PlanAction, PlanSeverity } from './plan-words.tsx';

type Settings = Pick<Account, 'unknownEvents' | 'unknownProperties'>;

/** A form for the actions on events and properties that the plan does not list. */
export function UnknownCard(): ReactElement {
  const query = useRead<Account>('/account', { isEdited: true });
  return (
    <Card title="Not in the plan">
      <Waiting query={query} />
      {query.data === undefined ? null : <UnknownForm initial={query.data} />}
    </Card>
  );
}

function UnknownForm({ initial }: { readonly initial: Settings }): ReactElement {
  const mayChange = useScope('account:update');
  const [{ unknownEvents, unknownProperties }, setSettings] = useState<Settings>(initial);
  const settings = { unknownEvents, unknownProperties };
  const save = useSave(settings, (changed) => request<Account>('PATCH', '/account', changed));
  return (
    <EditForm values={settings} save={save} onSubmit={() => save.mutate(settings)}>
      <p className="soft">Applies once a planned event is Approved. Takes effect when you save, without publishing.</p>
      <div className="inline">
        <ActionField
          label="Events"
          actions={['Report', 'Quarantine', 'Drop']}
          value={unknownEvents}
          onChange={(value) => setSettings({ unknownProperties, unknownEvents: value as Settings['unknownEvents'] })}
        />
        <ActionField
          label="Properties"
          actions={['Report', 'Omit', 'Redact', 'Quarantine', 'Drop']}
          value={unknownProperties}
          onChange={(value) => setSettings({ unknownEvents, unknownProperties: value })}
        />
      </div>
      {mayChange ? null : <p className="note warn">This key lacks the scope account:update.</p>}
      <ErrorNote error={save.error} />
      <div className="row">
        <button className="primary" type="submit" disabled={save.isPending || !mayChange}>
          {save.isPending ? 'Saving …' : 'Save and apply'}
        </button>
        <WhileSaved>{save.isSuccess ? <State tone="good">Live</State> : null}</WhileSaved>
      </div>
    </EditForm>
  );
}

type Setting = { readonly action: PlanAction; readonly severity: PlanSeverity };

type ActionFieldProps = {
  readonly label: string;
  readonly actions: readonly PlanAction[];
  readonly value: Setting;
  onChange(value: Setting): void;
};

function ActionField({ label, actions, value, onChange }: ActionFieldProps): ReactElement {
  return (
    <>
      <Field label={`${label} that are not listed`}>
        {(ids) => (
          <select
            {...ids}
            value={value.action}
            onChange={(event) => onChange({ ...value, action: event.target.value as PlanAction })}
          >
            {actions.map((action) => (
              <option key={action} value={action}>
                {actionWords[action]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={`Severity of such ${label.toLowerCase()}`}>
        {(ids) => (
          <select
            {...ids}
            value={value.severity}
            onChange={(event) => onChange({ ...value, severity: event.target.value as PlanSeverity })}
          >
            <option>Info</option>
            <option>Warning</option>
            <option>Error</option>
          </select>
        )}
      </Field>
    </>
  );
}
