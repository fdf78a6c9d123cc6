import { useState } from 'react';
import type { ReactElement } from 'react';
import { useList } from '../api/queries.ts';
import { useNameOf } from '../api/use-name-of.ts';
import type { Named } from '../api/use-name-of.ts';
import { useSettled } from '../api/use-settled.ts';
import { Waiting } from '../design/feedback.tsx';
import { Check } from '../design/field.tsx';
import { countOf } from '../design/numbers.ts';
import { More } from '../design/table.tsx';
import { keepFromSubmitting } from './keep-from-submitting.ts';

export type NamedChecksProps = {
  readonly legend: string;
  readonly of: 'destinations' | 'sources';
  /** Shown if nothing is selected; explains what an empty selection means. */
  readonly none: string;
  readonly ids: readonly string[];
  readonly onChange: (ids: readonly string[]) => void;
};

/** A search field is shown from this number of entries on. */
const searchedFrom = 12;

/** Checkboxes that choose several destinations or sources, with a search by name. */
export function NamedChecks({ legend, of, none, ids, onChange }: NamedChecksProps): ReactElement {
  const [text, setText] = useState('');
  const wanted = useSettled(text.trim());
  const filter = wanted === '' ? '' : `&nameContains=${encodeURIComponent(wanted)}`;
  const list = useList<Named>(`/${of}?limit=100${filter}`, { keepsPrevious: true });
  const nameOf = useNameOf(of, list.entities);
  const isWhole = filter === '' && list.isSuccess && !list.isPlaceholderData && !list.hasNextPage;
  const removed = isWhole ? ids.filter((id) => list.entities.every((one) => one.id !== id)) : [];
  const choose = (id: string, isOn: boolean): void => onChange(isOn ? [...ids, id] : ids.filter((one) => one !== id));
  return (
    <fieldset>
      <legend>{legend}</legend>
      {list.entities.length < searchedFrom && text === '' ? null : (
        <input
          type="search"
          aria-label={`${legend}: search`}
          placeholder="Search"
          value={text}
          onKeyDown={keepFromSubmitting}
          onChange={(event) => setText(event.target.value)}
        />
      )}
      <p className="hint">{ids.length === 0 ? none : `${countOf(ids.length, of.slice(0, -1))} selected.`}</p>
      <Waiting query={list} />
      <div className="checks">
        {list.entities.map((one) => (
          <Check
            key={one.id}
            label={nameOf(one)}
            checked={ids.includes(one.id)}
            onChange={(isOn) => choose(one.id, isOn)}
          />
        ))}
        {removed.map((id) => (
          <Check key={id} label={`${id} (removed)`} checked onChange={(isOn) => choose(id, isOn)} />
        ))}
        <More query={list} />
      </div>
    </fieldset>
  );
}
