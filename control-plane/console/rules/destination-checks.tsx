import { useState } from 'react';
import type { ReactElement } from 'react';
import { useList } from '../api/queries.ts';
import type { Destination } from '../api/types.ts';
import { Waiting } from '../design/feedback.tsx';
import { Check } from '../design/field.tsx';
import { countOf } from '../design/numbers.ts';
import { More } from '../design/table.tsx';

export type DestinationChecksProps = {
  readonly legend: string;
  readonly ids: readonly string[];
  readonly onChange: (ids: readonly string[]) => void;
};

/** Below this many they are all seen at a glance. */
const searchedFrom = 12;

/** Chooses some of the destinations. */
export function DestinationChecks({ legend, ids, onChange }: DestinationChecksProps): ReactElement {
  const destinations = useList<Destination>('/destinations?limit=100');
  const [search, setSearch] = useState('');
  const nameOf = ({ name, type }: Destination): string => name ?? type;
  const shown = destinations.entities.filter((one) => nameOf(one).toLowerCase().includes(search.toLowerCase()));
  return (
    <fieldset>
      <legend>{legend}</legend>
      {destinations.entities.length < searchedFrom ? null : (
        <input
          type="search"
          aria-label={`${legend}: search`}
          placeholder="Search"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
      )}
      <p className="hint">{ids.length === 0 ? 'None selected.' : `${countOf(ids.length, 'destination')} selected.`}</p>
      <Waiting query={destinations} />
      <div className="checks">
        {shown.map((one) => (
          <Check
            key={one.id}
            label={nameOf(one)}
            checked={ids.includes(one.id)}
            onChange={(isOn) => onChange(isOn ? [...ids, one.id] : ids.filter((id) => id !== one.id))}
          />
        ))}
        <More query={destinations} />
      </div>
    </fieldset>
  );
}
