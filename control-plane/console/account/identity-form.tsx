import { useState } from 'react';
import type { ReactElement } from 'react';
import { useChange } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { Account } from '../api/types.ts';
import { ErrorNote, State } from '../design/feedback.tsx';
import { Check, Field } from '../design/field.tsx';
import { EditForm } from '../forms/edit-form.tsx';

type Identity = Account['identity'];

type Priority = Identity['priority'];

const kindNames: Readonly<Record<Priority[number], string>> = {
  externalId: 'external id',
  userId: 'user id',
  email: 'e-mail address',
};

/** Those that the interface accepts. */
const priorities: readonly Priority[] = [
  ['externalId', 'userId', 'email'],
  ['externalId', 'email', 'userId'],
  ['email', 'externalId', 'userId'],
];

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** The account's identity settings. */
export function IdentityForm({
  identity,
  mayChange,
}: {
  readonly identity: Identity;
  readonly mayChange: boolean;
}): ReactElement {
  const [values, setValues] = useState<Identity>(identity);
  const [blocked, setBlocked] = useState(identity.blockedValues.join('\n'));
  const set = (change: Partial<Identity>): void => setValues({ ...values, ...change });
  const save = useChange((changed: Identity) => request<Account>('PATCH', '/account', { identity: changed }));
  return (
    <EditForm
      className="wide"
      values={[values, blocked]}
      save={save}
      onSubmit={() => save.mutate({ ...values, blockedValues: linesOf(blocked) })}
    >
      <Field
        label="External ids a visitor may have"
        hint="With 1, a second external id on the same device is another person. Two visitors that have one each stay two."
      >
        {(ids) => (
          <input
            {...ids}
            type="number"
            min={1}
            max={10}
            required
            value={values.externalIdsMax}
            onChange={(event) => set({ externalIdsMax: event.target.valueAsNumber })}
          />
        )}
      </Field>
      <Check
        label="An e-mail address identifies a visitor"
        checked={values.emailIdentifies}
        onChange={(emailIdentifies) => set({ emailIdentifies })}
      />
      <Field
        label="E-mail addresses that lead to a visitor"
        hint="At most; 1,000 is the most a visitor has. A further address is a property only."
      >
        {(ids) => (
          <input
            {...ids}
            type="number"
            min={1}
            max={1000}
            required
            value={values.emailsMax}
            onChange={(event) => set({ emailsMax: event.target.valueAsNumber })}
          />
        )}
      </Field>
      <Field
        label="User ids a visitor may have"
        hint="Its own and those of the anonymous visitors merged into it. The visitor of a further device keeps its history to itself; the device is signed in."
      >
        {(ids) => (
          <input
            {...ids}
            type="number"
            min={1}
            max={1000}
            required
            value={values.userIdsMax}
            onChange={(event) => set({ userIdsMax: event.target.valueAsNumber })}
          />
        )}
      </Field>
      <Field
        label="Priority"
        hint="Which identifier decides whose an event is where its identifiers belong to several visitors. Several people use one device, so an external id always comes before a user id."
      >
        {(ids) => (
          <select
            {...ids}
            value={values.priority.join()}
            onChange={(event) =>
              set({ priority: priorities.find((one) => one.join() === event.target.value) ?? values.priority })
            }
          >
            {priorities.map((one) => (
              <option key={one.join()} value={one.join()}>
                {one.map((kind) => kindNames[kind]).join(', then ')}
              </option>
            ))}
          </select>
        )}
      </Field>
      {values.priority.indexOf('email') < values.priority.indexOf('userId') ? (
        <p className="note warn">
          Events of people who share an e-mail address are all of the first one who had it. Nothing is merged.
        </p>
      ) : null}
      <Field
        label="Blocked identifiers"
        hint="One a line. Case, and spaces, brackets and quotes around a value make no difference. Values like undefined, null, 0, anonymous, guest and [object Object] are blocked already. Events are accepted without them."
      >
        {(ids) => <textarea {...ids} rows={5} value={blocked} onChange={(event) => setBlocked(event.target.value)} />}
      </Field>
      <Check
        label="Public keys may overwrite what a server has set, and merge known people"
        checked={values.publicKeysOverwrite}
        onChange={(publicKeysOverwrite) => set({ publicKeysOverwrite })}
      />
      {values.publicKeysOverwrite ? (
        <p className="note warn">
          Every visitor of a page can read its key, and could then set the e-mail address of any customer whose id they
          know.
        </p>
      ) : null}
      {mayChange ? null : <p className="note warn">Changing this needs the scope account:update.</p>}
      <ErrorNote error={save.error} />
      <div className="row">
        <button className="primary" type="submit" disabled={save.isPending || !mayChange}>
          {save.isPending ? 'Saving …' : 'Save'}
        </button>
        {save.isSuccess ? <State tone="good">Saved and live.</State> : null}
      </div>
    </EditForm>
  );
}
