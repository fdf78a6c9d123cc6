import { useState } from 'react';
import type { ReactElement } from 'react';
import { useScope } from '../api/accounts.ts';
import { useList, useRead } from '../api/queries.ts';
import { useNameOf } from '../api/use-name-of.ts';
import type { Named } from '../api/use-name-of.ts';
import { useSettled } from '../api/use-settled.ts';
import { Field } from '../design/field.tsx';
import { keepFromSubmitting } from './keep-from-submitting.ts';

export type NamedChoiceProps = {
  readonly label: string;
  readonly of: 'destinations' | 'sources';
  /** The chosen id; empty if nothing is chosen. */
  readonly value: string;
  /** Label of the empty choice. */
  readonly none: string;
  readonly isRequired?: boolean;
  readonly onChange: (id: string) => void;
};

const scopes = { destinations: 'destination', sources: 'source' } as const;
const listedMax = 100;

/**
 * Chooses one destination or source. If there are more than the list shows, a search field finds the others by name.
 */
export function NamedChoice({ label, of, value, none, isRequired = false, onChange }: NamedChoiceProps): ReactElement {
  const [text, setText] = useState('');
  const wanted = useSettled(text.trim());
  const [mayList, mayFind] = [useScope(`${scopes[of]}:list`), useScope(`${scopes[of]}:find`)];
  const filter = wanted === '' ? '' : `&nameContains=${encodeURIComponent(wanted)}`;
  const list = useList<Named>(`/${of}?limit=${listedMax}${filter}`, { enabled: mayList, keepsPrevious: true });
  const isListed = value === '' || list.entities.some(({ id }) => id === value);
  const chosen = useRead<Named>(`/${of}/${encodeURIComponent(value)}`, { enabled: !isListed && mayFind });
  const options = isListed ? list.entities : [chosen.data ?? unread(value), ...list.entities];
  const nameOf = useNameOf(of, options);
  const isLong = text !== '' || list.hasNextPage;
  return (
    <>
      <Field label={label}>
        {(ids) => (
          <select {...ids} required={isRequired} value={value} onChange={(event) => onChange(event.target.value)}>
            <option value="">{none}</option>
            {options.map((one) => (
              <option key={one.id} value={one.id}>
                {nameOf(one)}
              </option>
            ))}
          </select>
        )}
      </Field>
      {isLong ? (
        <Field
          label={`Search ${of}`}
          hint={
            list.hasNextPage ? `The list above shows the newest ${listedMax}: search by a part of the name.` : undefined
          }
        >
          {(ids) => (
            <input
              {...ids}
              type="search"
              value={text}
              onKeyDown={keepFromSubmitting}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
      ) : null}
    </>
  );
}

/** Stands for the chosen entity until its name has been read, or permanently if this key cannot read it. */
const unread = (id: string): Named => ({ id, name: id, type: '' });
