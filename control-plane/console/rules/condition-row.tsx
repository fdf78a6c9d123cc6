import { useId, useState } from 'react';
import type { ReactElement, ReactNode } from 'react';
import { pathProblem } from './known-paths.ts';
import type { KnownPaths } from './known-paths.ts';
import { linesOf, sayOperator, valueOf, withOperator } from './logic.ts';
import { Problems } from './problems.tsx';
import type { Condition, OperandKind, Operator } from './logic.ts';

export type ConditionRowProps = {
  readonly condition: Condition;
  readonly operators: readonly Operator[];
  /** Id of the `datalist` of paths to propose. */
  readonly pathsId: string;
  readonly known: KnownPaths;
  readonly buttons: ReactNode;
  readonly onChange: (condition: Condition) => void;
};

/** A condition: property, operator, value. */
export function ConditionRow(props: ConditionRowProps): ReactElement {
  const { condition, operators, pathsId, known, buttons, onChange } = props;
  const hintId = useId();
  const operator = operators.find(({ name }) => name === condition.operator);
  const takes = operator?.takes ?? 'value';
  const problem = condition.property === '' ? undefined : pathProblem(condition.property, known);
  const choose = (name: string): void => {
    const chosen = operators.find((one) => one.name === name);
    if (chosen !== undefined) onChange(withOperator(condition, chosen, takes));
  };
  return (
    <div className="condition">
      <div className="condition-fields">
        <input
          aria-label="Property"
          className="mono"
          list={pathsId}
          spellCheck={false}
          placeholder="event.event"
          aria-invalid={problem !== undefined}
          value={condition.property}
          onChange={(event) => onChange({ ...condition, property: event.target.value })}
        />
        <select
          aria-label="Operator"
          aria-describedby={hintId}
          value={condition.operator}
          onChange={(event) => choose(event.target.value)}
        >
          {operator === undefined ? <option value={condition.operator}>{condition.operator}</option> : null}
          {operators.map(({ name }) => (
            <option key={name} value={name}>
              {sayOperator(name)}
            </option>
          ))}
        </select>
        <ValueFields key={takes} condition={condition} takes={takes} onChange={onChange} />
      </div>
      <Problems problems={problem === undefined ? [] : [problem]} />
      <div className="row between">
        <span className="hint" id={hintId}>
          {operator?.summary}
        </span>
        {buttons}
      </div>
    </div>
  );
}

type ValueFieldsProps = {
  readonly condition: Condition;
  readonly takes: OperandKind;
  readonly onChange: (condition: Condition) => void;
};

function ValueFields({ condition, takes, onChange }: ValueFieldsProps): ReactElement | null {
  const lines = linesOf(condition.value, takes);
  const write = (next: readonly string[]): void =>
    onChange({ ...condition, value: valueOf(next, takes, condition.value) });
  switch (takes) {
    case 'nothing':
      return null;
    case 'list':
      return <Lines lines={lines} onChange={write} />;
    case 'range':
      return (
        <div className="range">
          <input aria-label="From" value={lines[0]} onChange={(event) => write([event.target.value, lines[1] ?? ''])} />
          <span>to</span>
          <input aria-label="To" value={lines[1]} onChange={(event) => write([lines[0] ?? '', event.target.value])} />
        </div>
      );
    case 'value':
    case 'text':
    case 'number':
    case 'date':
    case 'expression':
      return (
        <input
          aria-label="Value"
          className={takes === 'expression' ? 'mono' : undefined}
          inputMode={takes === 'number' ? 'decimal' : undefined}
          placeholder={placeholders[takes]}
          value={lines[0]}
          onChange={(event) => write([event.target.value])}
        />
      );
  }
}

const placeholders = {
  value: '',
  text: '',
  number: '10',
  date: '2026-01-31',
  expression: '^order_',
} as const;

type LinesProps = { readonly lines: readonly string[]; readonly onChange: (lines: readonly string[]) => void };

/** A field for several values, one per line. Empty lines are not values. */
function Lines({ lines, onChange }: LinesProps): ReactElement {
  const [text, setText] = useState(lines.join('\n'));
  const isSame = filled(text).join('\n') === lines.join('\n');
  return (
    <textarea
      aria-label="Values, one per line"
      placeholder="One value per line"
      rows={3}
      value={isSame ? text : lines.join('\n')}
      onChange={(event) => {
        setText(event.target.value);
        onChange(filled(event.target.value));
      }}
    />
  );
}

function filled(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}
