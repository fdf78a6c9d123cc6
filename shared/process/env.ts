import { Type } from 'typebox';
import type { Static, TObject, TProperties, TSchema } from 'typebox';
import { Value } from 'typebox/value';

/** Everything wrong with a process's environment, found in one go. */
export class EnvError extends Error {
  readonly code = 'env_invalid';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`reading the environment: ${problems.join('; ')}`);
    this.problems = problems;
  }
}

/**
 * Reads a process's environment by a schema whose property names are the variable names. Defaults are applied,
 * numbers and booleans converted; `NAME_FILE` names a file that holds the value of `NAME`. An empty value counts
 * as absent. Throws EnvError with every problem.
 */
export function readEnv<Properties extends TProperties>(
  schema: TObject<Properties>,
  source: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
): Static<TObject<Properties>> {
  const problems: string[] = [];
  const given: Record<string, unknown> = {};
  for (const name of Object.keys(schema.properties)) {
    const value = readVariable(name, source, readFile, problems);
    if (value !== undefined) given[name] = value;
  }
  const converted = Value.Convert(schema, Value.Default(schema, given));
  for (const error of Value.Errors(schema, converted)) {
    const missing = 'requiredProperties' in error.params ? error.params.requiredProperties : undefined;
    if (Array.isArray(missing)) for (const name of missing) problems.push(`${name} is required`);
    else problems.push(`${error.instancePath.slice(1)} ${describe(error)}`);
  }
  if (problems.length > 0) throw new EnvError(problems);
  return converted as Static<TObject<Properties>>;
}

function describe(error: { readonly message: string; readonly params: object }): string {
  const { params, message } = error;
  if (!('allowedValues' in params) || !Array.isArray(params.allowedValues)) return message;
  return `must be one of ${params.allowedValues.join(', ')}`;
}

function readVariable(
  name: string,
  source: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
  problems: string[],
): string | undefined {
  const direct = source[name];
  if (direct !== undefined && direct !== '') return direct;
  const path = source[`${name}_FILE`];
  if (path === undefined || path === '') return undefined;
  try {
    return readFile(path).trim();
  } catch {
    problems.push(`${name}_FILE names a file that cannot be read`);
    return undefined;
  }
}

/** A TCP port variable. */
export const port = (defaultPort: number): TSchema & ReturnType<typeof Type.Integer> =>
  Type.Integer({ minimum: 0, maximum: 65_535, default: defaultPort });

/** A whole number of at least `minimum`. */
export const count = (defaultCount: number, minimum = 1): ReturnType<typeof Type.Integer> =>
  Type.Integer({ minimum, default: defaultCount });

/** Variables every service reads the same way. */
export const commonEnv = {
  /** Servers of the log, comma separated. */
  NATS_URL: Type.String({ minLength: 1, default: 'nats://127.0.0.1:4222' }),
  /** Their monitor ports, comma separated: nothing else tells whether they sync every write. */
  NATS_MONITOR_URL: Type.Optional(Type.String({ pattern: '^https?://' })),
  /** How the log is kept: see TopologySettings. */
  LOG_PARTITIONS: Type.Integer({ minimum: 1, maximum: 256, default: 4 }),
  LOG_REPLICAS: Type.Integer({ minimum: 1, maximum: 5, default: 1 }),
  LOG_INGEST_BYTES_MAX: count(1024 ** 3, 1024 ** 2),
  LOG_EVENTS_BYTES_MAX: count(4 * 1024 ** 3, 1024 ** 2),
  LOG_RETRY_BYTES_MAX: count(1024 ** 3, 1024 ** 2),
  LOG_DEAD_LETTERS_BYTES_MAX: count(1024 ** 3, 1024 ** 2),
  LOG_LEVEL: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], { default: 'info' }),
  /** How long a stop may take before the process ends anyway, in ms. */
  SHUTDOWN_DEADLINE_MS: count(8_000, 100),
  /** Name of this process among its peers; made up at start when absent. */
  INSTANCE_ID: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' })),
};
