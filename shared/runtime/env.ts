import { readFileSync } from 'node:fs';
import type { Static, TObject, TProperties, TSchema } from 'typebox';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { CannotStartError } from './cannot-start.ts';
import { removedVariables } from './removed-variables.ts';
import type { VariableRules } from './variables.ts';

/** The environment of a process is not valid. `problems` lists every fault at once. */
export class EnvError extends CannotStartError {
  override readonly code = 'env_invalid';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`reading the environment: ${problems.join('; ')}`);
    this.problems = problems;
  }
}

/**
 * Declares all variables that a process reads. Returns them and their reader, which throws EnvError with every problem.
 *
 * ```ts
 * export const { variables: sinkEnv, read: readSinkEnv } = defineEnv({ ...logEnv, SINK_PORT: port('The sink', 8090) });
 * ```
 */
export function defineEnv<Variables extends TProperties>(
  variables: Variables,
  usualSource: () => VariableSource = () => process.env,
) {
  const schema = Type.Object(variables);
  const readFile = (path: string): string => readFileSync(path, 'utf8');
  return { variables, read: (source: VariableSource = usualSource()) => readEnv(schema, source, readFile) };
}

/**
 * Reads a process's environment by a schema whose property names are the variable names. Defaults are applied,
 * numbers and booleans converted; `NAME_FILE` names a file that holds the value of `NAME`. An empty value counts
 * as absent. Throws EnvError with every problem, broken rules and misspelt names included.
 */
export function readEnv<Properties extends TProperties>(
  schema: TObject<Properties>,
  source: VariableSource,
  readFile: (path: string) => string,
): Static<TObject<Properties>> {
  const names = Object.keys(schema.properties);
  const problems = misspelt(names, source);
  const given: Record<string, string> = {};
  // A variable whose file cannot be read counts as set, so that it is not reported as missing too.
  const unreadable: Record<string, string> = {};
  for (const name of names) {
    const { value, problem } = readVariable(name, source, readFile);
    if (value !== undefined) given[name] = value;
    if (problem === undefined) continue;
    problems.push(problem);
    unreadable[name] = problem;
  }
  problems.push(...brokenRules(schema.properties, { ...given, ...unreadable }));
  // The message of a variable's own check replaces that of the schema.
  const reported = new Set<string>();
  for (const [name, value] of Object.entries(given)) {
    const found = rulesOf(schema.properties[name]).problems?.(value, given) ?? [];
    if (found.length > 0) reported.add(name);
    problems.push(...found.map((problem) => `${name} ${problem}`));
  }
  const converted = Value.Convert(schema, Value.Default(schema, given));
  for (const error of Value.Errors(schema, converted)) {
    const missing = 'requiredProperties' in error.params ? error.params.requiredProperties : undefined;
    if (missing === undefined) {
      const name = error.instancePath.slice(1);
      if (!reported.has(name)) problems.push(`${name} ${describe(error, schema.properties[name], given[name])}`);
    }
    for (const name of missing ?? []) {
      if (unreadable[name] === undefined) problems.push(`${name} is required${whenMissing(schema.properties[name])}`);
    }
  }
  if (problems.length > 0) throw new EnvError(problems);
  return converted as Static<TObject<Properties>>;
}

const rulesOf = (variable: TSchema | undefined): VariableRules => variable ?? {};

function whenMissing(variable: TSchema | undefined): string {
  const { whenMissing: advice } = rulesOf(variable);
  return advice === undefined ? '' : `: ${advice}`;
}

/** The problems of variables that are set without the variables that they need, or together with their alternatives. */
function brokenRules(variables: TProperties, set: Readonly<Record<string, string>>): string[] {
  return Object.keys(set).flatMap((name) => {
    const { needs, alternatives = [] } = rulesOf(variables[name]);
    const rivals = alternatives.filter((one) => one in set);
    return [
      ...(needs === undefined || needs in set ? [] : [`${needs} is missing: ${name} does nothing without it`]),
      // Each alternative declares the whole list; only the first one that is set reports the conflict.
      ...(rivals.length > 1 && rivals[0] === name ? [`${rivals.join(' and ')} are both set: keep one`] : []),
    ];
  });
}

const isRemoved = (name: string): boolean => name.replace(/_FILE$/, '') in removedVariables;

/** The problems of unknown variables that are set and whose names are one typing error away from a known name. */
function misspelt(names: readonly string[], source: VariableSource): string[] {
  const known = [...new Set(names.flatMap((name) => [name, `${name}_FILE`]))];
  const isSet = (name: string): boolean => source[name] !== undefined && source[name] !== '';
  const unset = known.filter((name) => !isSet(name));
  return Object.keys(source).flatMap((name) => {
    if (known.includes(name) || !isSet(name) || isRemoved(name)) return [];
    const meant = known.find((one) => isSwapped(name, one)) ?? similarName(name, unset);
    if (meant === undefined) return [];
    return [`${name} is not known; did you mean ${meant}${isSet(meant) ? ', which is set as well' : ''}?`];
  });
}

const shownMax = 40;

function describe(
  { message, params }: { readonly message: string; readonly params: object },
  variable: TSchema | undefined,
  given: unknown,
): string {
  const isSecret = variable !== undefined && 'isSecret' in variable;
  // The conversion has replaced valid texts in place: such a value is a number or a boolean by now.
  const shown = typeof given === 'string' ? JSON.stringify(given.slice(0, shownMax)) : String(given);
  const found = isSecret ? '' : `, and is ${shown}`;
  if ('pattern' in params && variable !== undefined && 'mustBe' in variable)
    return `must be ${String(variable.mustBe)}${found}`;
  if ('allowedValues' in params && Array.isArray(params.allowedValues)) {
    return `must be one of ${params.allowedValues.join(', ')}${found}`;
  }
  const kind: unknown = variable === undefined || !('type' in variable) ? undefined : variable.type;
  if (kind === 'integer') return `must be a whole number${rangeOf(variable)}${found}`;
  if (kind === 'boolean') return `must be true or false${found}`;
  return `${message}${found}`;
}

function rangeOf(variable: TSchema | undefined): string {
  const { minimum, maximum }: { readonly minimum?: unknown; readonly maximum?: unknown } = variable ?? {};
  if (typeof minimum !== 'number') return '';
  return typeof maximum === 'number' ? ` from ${minimum} to ${maximum}` : ` of at least ${minimum}`;
}

/** Defaults of a slice's variables. Throws EnvError if one of them is required. */
export function defaultsOf<Slice extends TProperties>(slice: Slice): Static<TObject<Slice>> {
  return readEnv(Type.Object(slice), {}, () => '');
}

/** Variables by name, as `process.env` has them. */
export type VariableSource = Readonly<Record<string, string | undefined>>;

/** The value of a variable, its problem, or neither if it is not set. */
type ReadVariable = { readonly value?: string; readonly problem?: string };

/**
 * Reads `NAME`, or the file that `NAME_FILE` names, without the line breaks at its end. A variable whose own name ends
 * in `_FILE` is a path and is used as it is. An empty variable counts as absent; an empty file is an error.
 */
function readVariable(name: string, source: VariableSource, readFile: (path: string) => string): ReadVariable {
  const direct = emptyIsAbsent(source[name]);
  if (name.endsWith('_FILE')) return direct === undefined ? {} : { value: direct };
  const fileVariable = `${name}_FILE`;
  const path = emptyIsAbsent(source[fileVariable]);
  if (path === undefined) return direct === undefined ? {} : { value: direct };
  if (direct !== undefined) return { problem: `${name} and ${fileVariable} are both set: keep one` };
  try {
    const value = readFile(path).replace(/[\r\n]+$/, '');
    return value === '' ? { problem: `${fileVariable} names ${path}, which is empty` } : { value };
  } catch (error) {
    return { problem: `${fileVariable} names ${path}, ${reasonOf(error)}` };
  }
}

const emptyIsAbsent = (value: string | undefined): string | undefined => (value === '' ? undefined : value);

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'which does not exist';
  if (code === 'EACCES') return 'which this user may not read';
  if (code === 'EISDIR') return 'which is a folder';
  return 'which cannot be read';
}

/**
 * Minimum length of a misspelt name: a shorter name that differs by a letter is probably another program's variable.
 */
const similarLengthMin = 10;

/** The known name that differs from `written` by one extra, missing or wrong letter. */
function similarName(written: string, known: readonly string[]): string | undefined {
  if (written.length < similarLengthMin) return undefined;
  return known.find((name) => name !== written && differsByOneSlip(written, name));
}

/**
 * Whether the names differ only by two swapped neighbouring letters. The name of another program's variable hardly ever
 * differs in this way.
 */
function isSwapped(a: string, b: string): boolean {
  if (a.length !== b.length || a === b) return false;
  let at = 0;
  while (a[at] === b[at]) at += 1;
  return a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}

function differsByOneSlip(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let endA = a.length;
  let endB = b.length;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA -= 1;
    endB -= 1;
  }
  return endA - start <= 1 && endB - start <= 1;
}
