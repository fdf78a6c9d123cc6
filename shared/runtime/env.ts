import type { Static, TObject, TProperties, TSchema } from 'typebox';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { CannotStartError } from './cannot-start.ts';
import { heapEnv } from './heap-option.ts';
import { removedVariables } from './removed-variables.ts';
import { count, optionalText } from './variables.ts';

/** All problems of a process's environment, found together. */
export class EnvError extends CannotStartError {
  override readonly code = 'env_invalid';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`reading the environment: ${problems.join('; ')}`);
    this.problems = problems;
  }
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
  rules: readonly EnvRule[] = [],
): Static<TObject<Properties>> {
  const names = Object.keys(schema.properties);
  const problems = misspelt(names, source);
  const given: Record<string, unknown> = {};
  // One that is there and cannot be read is a problem, yet not missing as well.
  const unreadable: Record<string, unknown> = {};
  for (const name of names) {
    const { value, problem } = readVariable(name, source, readFile);
    if (value !== undefined) given[name] = value;
    if (problem === undefined) continue;
    problems.push(problem);
    unreadable[name] = problem;
  }
  const broken = rules.flatMap((rule) => rule({ ...given, ...unreadable }) ?? []);
  problems.push(...broken);
  /** A rule reports its variable in words of its own. */
  const isReported = (name: string): boolean => broken.some((problem) => problem.startsWith(`${name} `));
  const converted = Value.Convert(schema, Value.Default(schema, given));
  for (const error of Value.Errors(schema, converted)) {
    const missing = 'requiredProperties' in error.params ? error.params.requiredProperties : undefined;
    if (missing === undefined) {
      const name = error.instancePath.slice(1);
      if (!isReported(name)) problems.push(`${name} ${describe(error, schema.properties[name], given[name])}`);
    }
    for (const name of missing ?? []) {
      if (unreadable[name] === undefined && !isReported(name)) problems.push(`${name} is required`);
    }
  }
  if (problems.length > 0) throw new EnvError(problems);
  return converted as Static<TObject<Properties>>;
}

const isRemoved = (name: string): boolean => name.replace(/_FILE$/, '') in removedVariables;

/** Names that are set, unknown, and a slip away from a known one. */
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
  // What could be converted is a number or a boolean by now.
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

/** Defaults of a slice's variables. None of them may be required. */
export function defaultsOf<Slice extends TProperties>(slice: Slice): Static<TObject<Slice>> {
  return readEnv(Type.Object(slice), {}, () => '');
}

/** Variables by which every service is run. */
export const serviceEnv = {
  LOG_LEVEL: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
    default: 'info',
    description: 'The least severe messages that are logged',
  }),
  SHUTDOWN_DEADLINE_MS: count('How long a shutdown may take before the process exits anyway', 8_000, {
    unit: 'ms',
    minimum: 100,
  }),
  ...heapEnv,
  INSTANCE_ID: optionalText('Name of this process among its peers, the same after a restart; else one is made up', {
    pattern: '^[A-Za-z0-9_-]{1,64}$',
  }),
};

/** Variables of a service that clients keep connections to. */
export const servingEnv = {
  SHUTDOWN_ACCEPT_MS: count(
    'How long a service that shuts down still accepts connections: until a load balancer that reads `/readyz` sends no more',
    0,
    { unit: 'ms', minimum: 0 },
  ),
  SHUTDOWN_IDLE_MS: count(
    'How long after that idle connections may stay open. Both end within SHUTDOWN_DEADLINE_MS',
    2_000,
    { unit: 'ms', minimum: 0 },
  ),
};

/** Variables that hold something, by name, before they are converted. */
type GivenVariables = Readonly<Record<string, unknown>>;

/** A rule between variables. Returns the problem, starting with the name of a variable, or undefined. */
export type EnvRule = (given: GivenVariables) => string | undefined;

/** Two variables of which one alone does nothing. */
export const together =
  (one: string, other: string): EnvRule =>
  (given) => {
    if ((given[one] === undefined) === (given[other] === undefined)) return undefined;
    const [present, absent] = given[one] === undefined ? [other, one] : [one, other];
    return `${absent} is missing: ${present} alone does nothing`;
  };

/** A variable that does nothing without another one. */
export const needs =
  (name: string, needed: string): EnvRule =>
  (given) =>
    given[name] !== undefined && given[needed] === undefined
      ? `${needed} is missing: ${name} does nothing without it`
      : undefined;

/** Variables that are different ways to say the same. */
export const atMostOne =
  (...names: readonly string[]): EnvRule =>
  (given) => {
    const present = names.filter((name) => given[name] !== undefined);
    return present.length > 1 ? `${present.join(' and ')} are both set: keep one` : undefined;
  };

type VariableSource = Readonly<Record<string, string | undefined>>;

/** The value of a variable, its problem, or neither if it is not set. */
type ReadVariable = { readonly value?: string; readonly problem?: string };

/**
 * Reads `NAME`, or the file that `NAME_FILE` names, without the line breaks at its end. A variable whose own name ends
 * in `_FILE` is a path and is taken as it stands. An empty variable counts as absent, an empty file is a mistake.
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

/** Short names of a letter's difference are rather other programs' variables than ours misspelt. */
const similarLengthMin = 10;

/** The name that `written` was meant to be: one that differs by a letter too many, missing or wrong. */
function similarName(written: string, known: readonly string[]): string | undefined {
  if (written.length < similarLengthMin) return undefined;
  return known.find((name) => name !== written && differsByOneSlip(written, name));
}

/** Two neighbouring letters changed places: hardly another program's variable. */
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
