import { useState } from 'react';
import type { ReactElement } from 'react';
import { request } from '../api/request.ts';
import type { Account } from '../api/types.ts';
import { ErrorNote, State } from '../design/feedback.tsx';
import { Check, Field } from '../design/field.tsx';
import { EditForm, WhileSaved } from '../forms/edit-form.tsx';
import { useSave } from '../forms/use-save.ts';

type Identity = Account['identity'];

type Priority = Identity['priority'];

const kindNames: Readonly<Record<Priority[number], string>> = {
  externalId: 'external id',
  userId: 'user id',
  email: 'e-mail address',
};

/** The orders that the API accepts. */
const priorities: readonly Priority[] = [
  ['externalId', 'userId', 'email'],
  ['externalId', 'email', 'userId'],
  ['email', 'externalId', 'userId'],
];

/** A maximum number of identifiers of one kind per visitor. */
type Limit = {
  readonly name: 'externalIdsMax' | 'emailsMax' | 'userIdsMax';
  readonly label: string;
  readonly max: number;
  readonly hint: string;
};

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
  const edited: Identity = { ...values, blockedValues: linesOf(blocked) };
  const save = useSave(edited, (changed) => request<Account>('PATCH', '/account', { identity: changed }));
  const limit = ({ name, label, max, hint }: Limit): ReactElement => (
    <Field label={label} hint={hint}>
      {(ids) => (
        <input
          {...ids}
          type="number"
          min={1}
          max={max}
          required
          value={values[name]}
          onChange={(event) => set({ [name]: event.target.valueAsNumber })}
        />
      )}
    </Field>
  );
  return (
    <EditForm className="wide" values={[values, blocked]} save={save} onSubmit={() => save.mutate(edited)}>
      {limit({
        name: 'externalIdsMax',
        label: 'External ids per visitor',
        max: 10,
        hint: 'With 1, a second external id on the same device counts as another person, and two visitors with an external id each are never merged.',
      })}
      <Check
        label="An e-mail address identifies a visitor"
        checked={values.emailIdentifies}
        onChange={(emailIdentifies) => set({ emailIdentifies })}
      />
      {limit({
        name: 'emailsMax',
        label: 'E-mail addresses per visitor',
        max: 1000,
        hint: 'How many addresses can identify one visitor, up to 1,000. Further addresses are stored as a property only.',
      })}
      {limit({
        name: 'userIdsMax',
        label: 'User ids per visitor',
        max: 1000,
        hint: 'Counts all devices of the visitor, merged anonymous visitors included. Beyond the limit, a new device can sign in, but its earlier history is not merged.',
      })}
      <Field
        label="Priority"
        hint="Which identifier decides when the identifiers of one event belong to several visitors. An external id always comes before a user id, because several people may share a device."
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
          If several people share an e-mail address, all their events go to the first visitor who had it. Nothing is
          merged.
        </p>
      ) : null}
      <Field
        label="Blocked identifiers"
        hint="One per line. Case, and spaces, brackets and quotes around a value, are ignored. Values such as undefined, null, 0, anonymous, guest and [object Object] are always blocked. Events are accepted without the blocked identifier."
      >
        {(ids) => <textarea {...ids} rows={5} value={blocked} onChange={(event) => setBlocked(event.target.value)} />}
      </Field>
      <Check
        label="Let public keys overwrite values set by a server, and merge known visitors"
        checked={values.publicKeysOverwrite}
        onChange={(publicKeysOverwrite) => set({ publicKeysOverwrite })}
      />
      {values.publicKeysOverwrite ? (
        <p className="note warn">
          Anyone can read the key in a page, and could then change the e-mail address of any customer whose id they
          know.
        </p>
      ) : null}
      {mayChange ? null : <p className="note warn">Changing this needs the scope account:update.</p>}
      <ErrorNote error={save.error} />
      <div className="row">
        <button className="primary" type="submit" disabled={save.isPending || !mayChange}>
          {save.isPending ? 'Saving …' : 'Save'}
        </button>
        <WhileSaved>{save.isSuccess ? <State tone="good">Saved and live.</State> : null}</WhileSaved>
      </div>
    </EditForm>
  );
}
