import { useId, useState } from 'react';
import type { ReactElement } from 'react';
import type { JsonObject } from '../api/types.ts';
import { showJson } from '../design/code.tsx';
import { Field } from '../design/field.tsx';
import { ConditionRow } from './condition-row.tsx';
import type { KnownPaths } from './known-paths.ts';
import { readLogic } from './logic.ts';
import type { Logic, Operator } from './logic.ts';

export type LogicBuilderProps = {
  readonly logic: JsonObject | null;
  readonly operators: readonly Operator[];
  /** Paths that are proposed, and with which entered paths are compared. */
  readonly known: KnownPaths;
  /** Shown if there are no conditions: `Every event.` */
  readonly without: string;
  readonly onChange: (logic: JsonObject | null) => void;
};

/** Edits the conditions of a rule and how they are joined, as a form or as JSON. */
export function LogicBuilder({ logic, operators, known, without, onChange }: LogicBuilderProps): ReactElement {
  const [isJson, setJson] = useState(false);
  const pathsId = useId();
  const read = logic === null ? undefined : readLogic(logic);
  const isBuilt = !isJson && (logic === null || read !== undefined);
  const first = (): Logic => newCondition(operators);
  return (
    <fieldset className="logic">
      <legend>Applies to</legend>
      <datalist id={pathsId}>
        {[...known.examples].map(([path, example]) => (
          <option key={path} value={path} label={example === '' ? path : `${path}, such as ${example}`} />
        ))}
      </datalist>
      {isBuilt && read === undefined ? <p>{without}</p> : null}
      {isBuilt && read !== undefined ? (
        <Node logic={read} tools={{ operators, pathsId, known }} onChange={(next) => onChange(next ?? null)} />
      ) : null}
      {isBuilt ? null : <JsonText logic={logic} onChange={onChange} />}
      <div className="row">
        {isBuilt ? (
          <button type="button" onClick={() => onChange(read === undefined ? first() : joined(read, first()))}>
            {read === undefined ? 'Only matching events' : 'Add a condition'}
          </button>
        ) : null}
        <button type="button" className="plain" aria-pressed={!isBuilt} onClick={() => setJson(!isJson)}>
          {isBuilt ? 'Edit as JSON' : 'Back to the form'}
        </button>
      </div>
    </fieldset>
  );
}

function newCondition([operator]: readonly Operator[]): Logic {
  return { condition: { property: 'event.event', operator: operator?.name ?? 'Is', value: '' } };
}

/** A condition that also requires `more`: added to the outermost AND, or both within a new AND. */
function joined(logic: Logic, more: Logic): Logic {
  return { AND: 'AND' in logic ? [...logic.AND, more] : [logic, more] };
}

type Tools = { readonly operators: readonly Operator[]; readonly pathsId: string; readonly known: KnownPaths };

type NodeProps = {
  readonly logic: Logic;
  readonly tools: Tools;
  /** Called with undefined to remove the node. */
  readonly onChange: (logic: Logic | undefined) => void;
};

function Node({ logic, tools, onChange }: NodeProps): ReactElement {
  const turn = (): void => onChange('NOT' in logic ? logic.NOT : { NOT: logic });
  const buttons = (
    <div className="row">
      <button type="button" className="plain" onClick={turn}>
        {'NOT' in logic ? 'Remove NOT' : 'Not'}
      </button>
      <button type="button" className="plain" aria-label="Remove this condition" onClick={() => onChange(undefined)}>
        Remove
      </button>
    </div>
  );
  if ('condition' in logic) {
    return (
      <ConditionRow
        condition={logic.condition}
        operators={tools.operators}
        pathsId={tools.pathsId}
        known={tools.known}
        buttons={buttons}
        onChange={(condition) => onChange({ condition })}
      />
    );
  }
  if ('NOT' in logic) {
    return (
      <div className="logic-group" role="group" aria-label="Not">
        <div className="row between">
          <strong>Not:</strong>
          {buttons}
        </div>
        <Node
          logic={logic.NOT}
          tools={tools}
          onChange={(next) => onChange(next === undefined ? undefined : { NOT: next })}
        />
      </div>
    );
  }
  return <Joined logic={logic} tools={tools} buttons={buttons} onChange={onChange} />;
}

type JoinedProps = Omit<NodeProps, 'logic'> & {
  readonly logic: Extract<Logic, { AND: unknown } | { OR: unknown }>;
  readonly buttons: ReactElement;
};

function Joined({ logic, tools, buttons, onChange }: JoinedProps): ReactElement {
  const [joint, parts] = 'AND' in logic ? (['AND', logic.AND] as const) : (['OR', logic.OR] as const);
  const join = (chosen: string, next: readonly Logic[]): void =>
    onChange(next.length === 0 ? undefined : chosen === 'OR' ? { OR: next } : { AND: next });
  const replace = (index: number, next: Logic | undefined): void =>
    join(joint, next === undefined ? parts.toSpliced(index, 1) : parts.with(index, next));
  return (
    <div className="logic-group" role="group" aria-label={joint === 'AND' ? 'All of' : 'Any of'}>
      <div className="row between">
        <select aria-label="Joined by" value={joint} onChange={(event) => join(event.target.value, parts)}>
          <option value="AND">All of these match</option>
          <option value="OR">Any of these matches</option>
        </select>
        {buttons}
      </div>
      {parts.map((part, index) => (
        // Parts have no key but their index.
        <Node key={index} logic={part} tools={tools} onChange={(next) => replace(index, next)} />
      ))}
      <div className="row">
        <button type="button" className="plain" onClick={() => join(joint, [...parts, newCondition(tools.operators)])}>
          Add a condition here
        </button>
        <button
          type="button"
          className="plain"
          onClick={() => join(joint, [...parts, otherJoin(joint, newCondition(tools.operators))])}
        >
          Add a group here
        </button>
      </div>
    </div>
  );
}

/**
 * The operator of a new group: the opposite of its parent's operator, because with the same operator the group would
 * change nothing.
 */
function otherJoin(joint: 'AND' | 'OR', first: Logic): Logic {
  return joint === 'AND' ? { OR: [first] } : { AND: [first] };
}

type JsonTextProps = {
  readonly logic: JsonObject | null;
  readonly onChange: (logic: JsonObject | null) => void;
};

/** A field for the conditions as JSON. While its text is invalid, the rule keeps the last valid conditions. */
function JsonText({ logic, onChange }: JsonTextProps): ReactElement {
  const [text, setText] = useState(() => showJson(logic));
  const [problem, setProblem] = useState<string>();
  const write = (next: string): void => {
    setText(next);
    const read = parse(next);
    if (typeof read === 'string') {
      setProblem(read);
      return;
    }
    setProblem(undefined);
    onChange(read);
  };
  return (
    <Field
      label="As JSON"
      hint="condition, AND, OR and NOT; null for none. Until it is valid, the rule stays as it was."
      error={problem}
    >
      {(ids) => (
        <textarea
          {...ids}
          className="mono"
          rows={10}
          spellCheck={false}
          value={text}
          onChange={(event) => write(event.target.value)}
        />
      )}
    </Field>
  );
}

/** Parses JSON. Returns the conditions, null for the JSON null, or a string that says why the text is invalid. */
function parse(text: string): Logic | null | string {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    return `Invalid JSON: ${error instanceof Error ? error.message : 'it cannot be read'}`;
  }
  if (given === null) return null;
  return readLogic(given) ?? 'Each part has exactly one of condition, AND, OR and NOT; AND and OR have at least one.';
}
