import type { ReactElement } from 'react';
import { Field } from '../design/field.tsx';
import { TimeInput } from '../design/time-input.tsx';
import { NamedChoice } from '../forms/named-choice.tsx';
import type { NamedChoiceProps } from '../forms/named-choice.tsx';
import { ranges } from './event-filters.ts';
import type { EventFilters } from './event-filters.ts';
import { outcomeWords } from './outcomes.tsx';

type FilterFormProps = {
  readonly filters: EventFilters;
  choose(name: keyof EventFilters, value: string): void;
};

type Option = readonly [value: string, label: string];

export function FilterForm({ filters, choose }: FilterFormProps): ReactElement {
  const select = (label: string, name: keyof EventFilters, all: string, options: readonly Option[]): ReactElement => (
    <Field label={label}>
      {(ids) => (
        <select {...ids} value={filters[name]} onChange={(event) => choose(name, event.target.value)}>
          <option value="">{all}</option>
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
  const input = (label: string, name: keyof EventFilters): ReactElement => (
    <Field label={label}>
      {(ids) => (
        <input {...ids} type="search" value={filters[name]} onChange={(event) => choose(name, event.target.value)} />
      )}
    </Field>
  );
  const named = (label: string, of: NamedChoiceProps['of'], name: keyof EventFilters): ReactElement => (
    <NamedChoice label={label} of={of} none="All" value={filters[name]} onChange={(id) => choose(name, id)} />
  );
  return (
    <form className="inline" role="search" onSubmit={(event) => event.preventDefault()}>
      {named('Destination', 'destinations', 'destinationId')}
      {select(
        'Outcome',
        'outcome',
        'Any',
        Object.entries(outcomeWords).map(([id, [, word]]) => [id, word]),
      )}
      {input('Event name', 'name')}
      {select('Time', 'range', 'All kept', [
        ...Object.entries(ranges).map(([id, [label]]) => [id, label] as const),
        ['custom', 'From … to …'],
      ])}
      {filters.range === 'custom' ? (
        <>
          <TimeInput label="From" of="minute" value={filters.from} onChange={(value) => choose('from', value)} />
          <TimeInput label="To" of="minute" value={filters.to} onChange={(value) => choose('to', value)} />
        </>
      ) : null}
      {named('Source', 'sources', 'sourceId')}
      {input('Visitor', 'visitorId')}
      {input('Property', 'property')}
      {filters.property === '' ? null : input('Value', 'value')}
    </form>
  );
}
