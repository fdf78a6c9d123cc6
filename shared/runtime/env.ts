import { Type } from 'typebox';
import type { Static, TObject, TProperties, TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { CannotStartError } from './cannot-start.ts';
import type { EnvRule } from './env-rules.ts';
import { readVariable } from './read-variable.ts';
import type { VariableSource } from './read-variable.ts';
import { similarName } from './similar-name.ts';

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
    if (missing === undefined) problems.push(`${error.instancePath.slice(1)} ${describe(error)}`);
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

function describe(error: { readonly message: string; readonly params: object }): string {
  const { params, message } = error;
  if (!('allowedValues' in params) || !Array.isArray(params.allowedValues)) return message;
  return `must be one of ${params.allowedValues.join(', ')}`;
}

/** A TCP port variable. */
export const port = (defaultPort: number): TSchema & ReturnType<typeof Type.Integer> =>
  Type.Integer({ minimum: 0, maximum: 65_535, default: defaultPort });

/** A whole number of at least `minimum`. */
export const count = (defaultCount: number, minimum = 1): ReturnType<typeof Type.Integer> =>
  Type.Integer({ minimum, default: defaultCount });

/** Variables by which every service is run. */
export const serviceEnv = {
  LOG_LEVEL: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], { default: 'info' }),
  /** How long a stop may take before the process ends anyway, in ms. */
  SHUTDOWN_DEADLINE_MS: count(8_000, 100),
  /** A wall clock that is set by at least this much is counted and told of, in ms. */
  CLOCK_JUMP_MS: count(1_000, 10),
  /** Name of this process among its peers; made up at start when absent. */
  INSTANCE_ID: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' })),
};

/** Variables of a service that clients keep connections to. */
export const servingEnv = {
  /** How long a service that ends still takes connections, in ms: until a load balancer that reads `/readyz` sends no more. */
  SHUTDOWN_ACCEPT_MS: count(0, 0),
  /** How long after that connections may stay open on which nothing is asked, in ms. All of it within SHUTDOWN_DEADLINE_MS. */
  SHUTDOWN_IDLE_MS: count(2_000, 0),
};
