import type { Static, TObject, TOptional, TProperties, TSchema } from 'typebox';

/** A setting that variables of the environment decide; every other setting is a constant. */
export class FromEnv<Variables extends TProperties, Value> {
  readonly variables: Variables;
  /** Computes the setting. `env` has the values of `variables`, and may have others. */
  readonly read: (env: never) => Value;

  constructor(variables: Variables, read: (env: never) => Value) {
    this.variables = variables;
    this.read = read;
  }
}

/** A setting: the value of its single variable, or the result of `read` for the values of several. */
export function fromEnv<Name extends string, Variable extends TSchema>(
  variables: Readonly<Record<Name, Variable>>,
): FromEnv<Record<Name, Variable>, Static<Variable> | (Variable extends TOptional ? undefined : never)>;
export function fromEnv<Variables extends TProperties, Value>(
  variables: Variables,
  read: (env: Static<TObject<Variables>>) => Value,
): FromEnv<Variables, Value>;
export function fromEnv(
  variables: TProperties,
  read: (env: Readonly<Record<string, unknown>>) => unknown = (env) => env[Object.keys(variables)[0] ?? ''],
): FromEnv<TProperties, unknown> {
  return new FromEnv(variables, read);
}

/**
 * The settings of a module, each declared once as a constant or by `fromEnv`; a module with a single setting passes
 * `fromEnv(…)` alone. The module's variables, the reader and the type of the settings follow from the declaration.
 *
 * ```ts
 * export const { variables: recentEnv, read: readRecentSettings } = defineSettings({
 *   eventsMax: fromEnv({ RECENT_EVENTS_MAX: count('Events of one account in the view', 200_000) }),
 *   rowsPerInsert: 500,
 * });
 * export type RecentSettings = ReturnType<typeof readRecentSettings>;
 * ```
 */
export function defineSettings<Declared extends object>(declared: Declared): Settings<Declared> {
  return {
    variables: variablesOf(declared) as VariablesOf<Declared>,
    read: (env) => read(declared, env) as ValuesOf<Declared>,
  };
}

export type Settings<Declared> = {
  readonly variables: VariablesOf<Declared>;
  readonly read: (env: EnvOf<VariablesOf<Declared>>) => ValuesOf<Declared>;
};

/** The values of variables. The value of an optional variable has the type `| undefined`. */
export type EnvOf<Variables extends TProperties> = UndefinedWhereOptional<Static<TObject<Variables>>>;

type UndefinedWhereOptional<Values> = {
  [Name in keyof Values]: object extends Pick<Values, Name> ? Values[Name] | undefined : Values[Name];
};

type ValuesOf<Declared> =
  Declared extends FromEnv<TProperties, infer Value>
    ? Value
    : Declared extends readonly unknown[]
      ? Declared
      : Declared extends object
        ? { readonly [Name in keyof Declared]: ValuesOf<Declared[Name]> }
        : Declared;

/** The variables of each `fromEnv` in a declaration, as a union. */
type Parts<Declared> =
  Declared extends FromEnv<infer Variables, unknown>
    ? Variables
    : Declared extends readonly unknown[]
      ? never
      : Declared extends object
        ? Parts<Declared[keyof Declared]>
        : never;

type Intersection<Union> = (Union extends unknown ? (part: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

type VariablesOf<Declared> = Intersection<Parts<Declared>> extends infer All extends TProperties ? All : never;

function variablesOf(declared: unknown): TProperties {
  if (declared instanceof FromEnv) return declared.variables as TProperties;
  if (typeof declared !== 'object' || declared === null || Array.isArray(declared)) return {};
  return Object.assign({}, ...Object.values(declared).map(variablesOf)) as TProperties;
}

function read(declared: unknown, env: object): unknown {
  if (declared instanceof FromEnv) return declared.read(env as never);
  if (typeof declared !== 'object' || declared === null || Array.isArray(declared)) return declared;
  return Object.fromEntries(Object.entries(declared).map(([name, one]) => [name, read(one, env)]));
}
