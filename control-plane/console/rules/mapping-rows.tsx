import { useId } from 'react';
import type { ReactElement } from 'react';
import { Problems } from './problems.tsx';
import { templateProblems } from './known-paths.ts';
import type { KnownPaths } from './known-paths.ts';
import { ModificationChoice } from './modification-choice.tsx';
import type { MappingFields, MappingRow, RuleLanguage } from './rule.ts';
import { TemplateHelp } from './template-help.tsx';

export type MappingRowsProps = {
  readonly rows: readonly MappingRow[];
  readonly others: MappingFields['others'];
  readonly modifications: RuleLanguage['modifications'];
  readonly known: KnownPaths;
  /** Properties of the event in the preview that no row names. */
  readonly unnamed: readonly string[];
  readonly onChange: (changed: Pick<MappingFields, 'mappings'> | Pick<MappingFields, 'others'>) => void;
};

/** The properties sent to a destination, their values, and the handling of all other properties. */
export function MappingRows(props: MappingRowsProps): ReactElement {
  const { rows, others, modifications, known, unnamed, onChange } = props;
  const templatesId = useId();
  const write = (mappings: readonly MappingRow[]): void => onChange({ mappings });
  return (
    <fieldset>
      <legend>Properties</legend>
      {rows.length === 0 ? <p className="hint">The event keeps its properties. Add one to set or change it.</p> : null}
      <datalist id={templatesId}>
        {[...known.examples].map(([path, example]) => (
          <option key={path} value={`{{${path}}}`} label={example === '' ? path : `${path}, such as ${example}`} />
        ))}
      </datalist>
      {rows.map((row, index) => (
        <Row
          // Rows have no key but their index.
          key={index}
          row={row}
          modifications={modifications}
          known={known}
          templatesId={templatesId}
          onChange={(next) => write(next === undefined ? rows.toSpliced(index, 1) : rows.with(index, next))}
        />
      ))}
      <div className="row">
        <button type="button" onClick={() => write([...rows, { property: '', map: '', modification: 'None' }])}>
          Add a property
        </button>
      </div>
      {rows.length === 0 ? null : (
        <Others others={others} unnamed={unnamed} onChange={(next) => onChange({ others: next })} />
      )}
      <TemplateHelp />
    </fieldset>
  );
}

type RowProps = {
  readonly row: MappingRow;
  readonly modifications: RuleLanguage['modifications'];
  readonly known: KnownPaths;
  readonly templatesId: string;
  /** Called with undefined to remove the row. */
  readonly onChange: (row: MappingRow | undefined) => void;
};

function Row({ row, modifications, known, templatesId, onChange }: RowProps): ReactElement {
  const problems = templateProblems(row.map, known);
  const example = known.examples.get(/^\{\{\s*\$?([^{}]+?)\s*\}\}$/.exec(row.map)?.[1] ?? '') ?? '';
  return (
    <div className="condition">
      <div className="condition-fields row-fields">
        <input
          aria-label="Property at the destination"
          placeholder="value"
          required
          maxLength={250}
          value={row.property}
          onChange={(event) => onChange({ ...row, property: event.target.value })}
        />
        <ModificationChoice
          value={row.modification}
          modifications={modifications}
          onChange={(modification) => onChange({ ...row, modification })}
        />
        <input
          aria-label="Template"
          className="mono"
          list={templatesId}
          spellCheck={false}
          aria-invalid={problems.length > 0}
          placeholder="{{event.event_properties.total}}"
          maxLength={4_000}
          value={row.map}
          onChange={(event) => onChange({ ...row, map: event.target.value })}
        />
      </div>
      <Problems problems={problems} />
      <div className="row between">
        <span className="hint">
          {row.modification === 'None' ? null : modifications.find(({ name }) => name === row.modification)?.summary}
          {example === '' ? null : (
            <span className="clip" dir="auto">
              {' '}
              Example: {example}
            </span>
          )}
        </span>
        <button type="button" className="plain" aria-label="Remove this property" onClick={() => onChange(undefined)}>
          Remove
        </button>
      </div>
    </div>
  );
}

const namedMax = 12;

type OthersProps = {
  readonly others: MappingFields['others'];
  readonly unnamed: readonly string[];
  readonly onChange: (others: MappingFields['others']) => void;
};

function Others({ others, unnamed, onChange }: OthersProps): ReactElement {
  const name = useId();
  const more = unnamed.length - namedMax;
  const listed = `${unnamed.slice(0, namedMax).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  const choice = (value: MappingFields['others'], label: string): ReactElement => (
    <label className="check">
      <input type="radio" name={name} checked={others === value} onChange={() => onChange(value)} />
      <span>{label}</span>
    </label>
  );
  return (
    <fieldset>
      <legend>Other properties</legend>
      {choice('keep', 'Keep the other properties as they are')}
      {choice('omit', 'Send only the properties listed above')}
      {unnamed.length === 0 ? null : (
        <p className={others === 'omit' ? 'note warn' : 'hint'} dir="auto">
          {others === 'omit' ? 'Left out of the previewed event: ' : 'Kept in the previewed event: '}
          {listed}.
        </p>
      )}
    </fieldset>
  );
}
