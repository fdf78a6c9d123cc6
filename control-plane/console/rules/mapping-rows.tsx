import { useId } from 'react';
import type { ReactElement } from 'react';
import type { MappingRow, RuleLanguage } from './rule.ts';

export type MappingRowsProps = {
  readonly rows: readonly MappingRow[];
  readonly modifications: RuleLanguage['modifications'];
  readonly paths: readonly string[];
  readonly onChange: (rows: readonly MappingRow[]) => void;
};

/** The properties a destination receives, and the value of each. */
export function MappingRows({ rows, modifications, paths, onChange }: MappingRowsProps): ReactElement {
  const templatesId = useId();
  const change = (index: number, changed: Partial<MappingRow>): void =>
    onChange(rows.map((row, place) => (place === index ? { ...row, ...changed } : row)));
  return (
    <fieldset>
      <legend>Properties</legend>
      <p className="hint">
        {rows.length === 0
          ? 'The event keeps its properties. Once you add one, only the properties listed here are sent.'
          : 'Only these properties are sent.'}
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
              aria-label="Property at the destination"
              placeholder="value"
              maxLength={250}
              value={row.property}
              onChange={(event) => change(index, { property: event.target.value })}
            />
            <select
              aria-label="Modification"
              value={row.modification}
              onChange={(event) => change(index, { modification: event.target.value })}
            >
              {modifications.map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
            <input
              aria-label="Template"
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
            <button
              type="button"
              className="plain"
              aria-label="Remove this property"
              onClick={() => onChange(rows.toSpliced(index, 1))}
            >
              Remove
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
