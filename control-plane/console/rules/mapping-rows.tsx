import { useId } from 'react';
import type { ReactElement } from 'react';
import type { MappingRow, RuleLanguage } from './rule.ts';

export type MappingRowsProps = {
  readonly rows: readonly MappingRow[];
  readonly modifications: RuleLanguage['modifications'];
  readonly paths: readonly string[];
  readonly onChange: (rows: readonly MappingRow[]) => void;
};

/** The properties a destination is told, and what each is made of. */
export function MappingRows({ rows, modifications, paths, onChange }: MappingRowsProps): ReactElement {
  const templatesId = useId();
  const change = (index: number, changed: Partial<MappingRow>): void =>
    onChange(rows.map((row, place) => (place === index ? { ...row, ...changed } : row)));
  return (
    <fieldset>
      <legend>Properties</legend>
      <p className="hint">
        {rows.length === 0
          ? 'The event keeps its own. Add one, and the destination is told only what stands here.'
          : 'The destination is told these and no others.'}
      </p>
      <datalist id={templatesId}>
        {paths.map((path) => (
          <option key={path} value={`{{${path}}}`} />
        ))}
      </datalist>
      {rows.map((row, index) => (
        // Rows have no identity but their place.
        <div className="condition" key={index}>
          <div className="condition-fields row-fields">
            <input
              aria-label="Property there"
              placeholder="value"
              maxLength={250}
              value={row.property}
              onChange={(event) => change(index, { property: event.target.value })}
            />
            <select
              aria-label="Changed by"
              value={row.modification}
              onChange={(event) => change(index, { modification: event.target.value })}
            >
              {modifications.map(({ name }) => (
                <option key={name} value={name}>
                  {name === 'None' ? 'Not changed' : name}
                </option>
              ))}
            </select>
            <input
              aria-label="Made of"
              className="mono"
              list={templatesId}
              spellCheck={false}
              placeholder="{{event.event_properties.total}}"
              maxLength={4_000}
              value={row.map}
              onChange={(event) => change(index, { map: event.target.value })}
            />
          </div>
          <div className="row between">
            <span className="hint">{modifications.find(({ name }) => name === row.modification)?.summary}</span>
            <button type="button" className="plain" onClick={() => onChange(rows.toSpliced(index, 1))}>
              Take out
            </button>
          </div>
        </div>
      ))}
      <div className="row">
        <button type="button" onClick={() => onChange([...rows, { property: '', map: '', modification: 'None' }])}>
          Add a property
        </button>
      </div>
    </fieldset>
  );
}
