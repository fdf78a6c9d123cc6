import { Type } from 'typebox';
import type { Static, TObject, TProperties, TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { CannotStartError } from './cannot-start.ts';
import type { EnvRule } from './env-rules.ts';
import { readVariable } from './read-variable.ts';
import type { VariableSource } from './read-variable.ts';
import { similarName } from './similar-name.ts';
import { count, optionalText } from './variables.ts';

/** Everything wrong with a process's environment, found in one go. */
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
  for (const rule of rules) {
    const problem = rule({ ...given, ...unreadable });
    if (problem !== undefined) problems.push(problem);
  }
  const converted = Value.Convert(schema, Value.Default(schema, given));
  for (const error of Value.Errors(schema, converted)) {
    const missing = 'requiredProperties' in error.params ? error.params.requiredProperties : undefined;
    if (missing === undefined) {
      const name = error.instancePath.slice(1);
      problems.push(`${name} ${describe(error, schema.properties[name])}`);
    }
    for (const name of missing ?? []) if (unreadable[name] === undefined) problems.push(`${name} is required`);
  }
  if (problems.length > 0) throw new EnvError(problems);
  return converted as Static<TObject<Properties>>;
}

/** Names that are set, unknown, and a slip away from a known one that is not set. */
function misspelt(names: readonly string[], source: VariableSource): string[] {
  const known = new Set(names.flatMap((name) => [name, `${name}_FILE`]));
  const isSet = (name: string): boolean => source[name] !== undefined && source[name] !== '';
  const unset = [...known].filter((name) => !isSet(name));
  return Object.keys(source).flatMap((name) => {
    if (known.has(name) || !isSet(name)) return [];
    const meant = similarName(name, unset);
    return meant === undefined ? [] : [`${name} is not known; did you mean ${meant}?`];
  });
}

function describe(
  { message, params }: { readonly message: string; readonly params: object },
  variable: TSchema | undefined,
): string {
  if ('pattern' in params && variable !== undefined && 'mustBe' in variable)
    return `must be ${String(variable.mustBe)}`;
  if (!('allowedValues' in params) || !Array.isArray(params.allowedValues)) return message;
  return `must be one of ${params.allowedValues.join(', ')}`;
}

/** What the variables of a slice are when none is set. None of them may be required. */
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
  CLOCK_JUMP_MS: count('A change of the wall clock by at least this much is counted and logged', 1_000, {
    unit: 'ms',
    minimum: 10,
  }),
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
