import type { TProperties, TSchema } from 'typebox';
import { IsOptional } from 'typebox';
import { usualValueOf } from '../../../shared/runtime/variables.ts';
import type { Unit } from '../../../shared/runtime/variables.ts';
import { controlPlaneEnv, migrateEnv } from '../../../control-plane/env.ts';
import { gatewayEnv } from '../../../gateway/env.ts';
import { pipelineEnv } from '../../../pipeline/env.ts';
import { embeddedEnv } from '../../../shared/embedded/machine/env.ts';
import { databaseEnv } from '../../../shared/postgres/database-access.ts';
import { compareCountsEnv } from '../../cli/compare-counts/env.ts';
import { doctorEnv } from '../../cli/doctor/env.ts';
import { stackFolderEnv } from '../../../shared/command-line/local-stack.ts';
import { stackEnv } from '../../local/env.ts';
import { sinkEnv } from '../../local/sink/env.ts';

const introduction = `# Settings

Every setting is a variable of the environment. A service refuses to start with a list of everything that is wrong in its environment,
misspelled names included.

Every variable may come from a file: \`NAME_FILE\` names a file that holds the value of \`NAME\`. Use that for secrets. An empty value
counts as not set. Write numbers in the unit that the table gives, without the unit. What to change when is on [Tune](/docs/tune.html).
`;

/** The page of all settings: first those that several services share, then each program's own. */
export function environmentPage(): string {
  const shared = namesOf(services).filter((name) => readersOf(name).length > 1);
  return [
    introduction,
    '## Several services\n',
    sharedTable(shared),
    ...services.flatMap(({ name, variables }) => {
      const own = Object.keys(variables).filter((variable) => !shared.includes(variable));
      return [`## ${title(name)}\n`, table(own.map((variable) => [variable, variables[variable]]))];
    }),
    ...tools.flatMap(describeTool),
  ].join('\n');
}

/** A tool's own variables, and the names of variables that it shares with the services. */
function describeTool({ name, variables }: Program): string[] {
  const entries = Object.entries(variables);
  const own = entries.filter(([variable, schema]) => !isOfServices(variable, schema));
  const others = entries.filter(([variable, schema]) => isOfServices(variable, schema)).map(([variable]) => variable);
  return [
    `## ${title(name)}\n`,
    ...(own.length === 0 ? [] : [table(own)]),
    ...(others.length === 0 ? [] : [`As above: ${others.map((variable) => `\`${variable}\``).join(', ')}.\n`]),
  ];
}

const isOfServices = (variable: string, schema: TSchema): boolean =>
  services.some(({ variables }) => describesTheSame(variables[variable], schema));

const describesTheSame = (one: TSchema | undefined, other: TSchema): boolean =>
  one !== undefined && describeVariable(one).meaning === describeVariable(other).meaning;

function namesOf(programs: readonly Program[]): string[] {
  return [...new Set(programs.flatMap(({ variables }) => Object.keys(variables)))];
}

const readersOf = (name: string): readonly Program[] => services.filter(({ variables }) => name in variables);

function table(variables: readonly (readonly [string, TSchema | undefined])[]): string {
  const rows = variables.map(([name, schema]) => row(name, schema, []));
  return ['| Variable | Default | Unit | Range | Meaning |', '| --- | --- | --- | --- | --- |', ...rows, ''].join('\n');
}

function sharedTable(names: readonly string[]): string {
  const rows = names.map((name) => {
    const readers = readersOf(name);
    return row(name, readers[0]?.variables[name], [
      readers.length === services.length ? 'all' : readers.map((reader) => reader.name).join(', '),
    ]);
  });
  return [
    '| Variable | Default | Unit | Range | Meaning | Read by |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

function row(name: string, schema: TSchema | undefined, more: readonly string[]): string {
  if (schema === undefined) throw new Error(`describing ${name}: no service declares it`);
  const text = describeVariable(schema);
  return `| ${[`\`${name}\``, text.default, text.unit, text.range, text.meaning, ...more].join(' | ')} |`;
}

const title = (name: string): string => `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;

/** The facts of a variable for operators, as text. */
type VariableText = {
  readonly default: string;
  readonly unit: string;
  readonly range: string;
  readonly meaning: string;
};

export function describeVariable(variable: TSchema): VariableText {
  const unit = textOf(variable, 'unit');
  const isSecret = 'isSecret' in variable;
  return {
    default: defaultOf(variable, unit),
    unit,
    range: rangeOf(variable),
    meaning: isSecret ? `${textOf(variable, 'description')}. Secret` : textOf(variable, 'description'),
  };
}

function defaultOf(variable: TSchema, unit: string): string {
  if ('rule' in variable) return `by the machine: ${textOf(variable, 'rule')}`;
  const usual = usualValueOf(variable);
  if (usual === undefined) return IsOptional(variable) ? '–' : '**required**';
  const shown = showDefault(usual, unit);
  return 'orElse' in variable ? `${shown}, ${textOf(variable, 'orElse')}` : shown;
}

function showDefault(value: unknown, unit: string): string {
  if (value === '') return '–';
  const spoken = typeof value === 'number' ? inLargerUnit(value, unit) : undefined;
  return `\`${String(value)}\`${spoken === undefined ? '' : ` (${spoken})`}`;
}

const scales: Readonly<Partial<Record<Unit, readonly (readonly [number, string])[]>>> = {
  bytes: [
    [1024 ** 3, 'GiB'],
    [1024 ** 2, 'MiB'],
    [1024, 'KiB'],
  ],
  ms: [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
  ],
};

/** `8 MiB` for 8388608 bytes; undefined if the value is not a whole number of a larger unit. */
function inLargerUnit(value: number, unit: string): string | undefined {
  const fitting = scales[unit as Unit]?.find(([size]) => value >= size && value % size === 0);
  return fitting === undefined ? undefined : `${value / fitting[0]} ${fitting[1]}`;
}

function rangeOf(variable: TSchema): string {
  if ('mustBe' in variable) return textOf(variable, 'mustBe');
  if ('enum' in variable && Array.isArray(variable.enum)) return variable.enum.map((one) => `\`${one}\``).join(', ');
  if ('type' in variable && variable.type === 'boolean') return '`true`, `false`';
  const { minimum, maximum, pattern } = variable as { minimum?: number; maximum?: number; pattern?: string };
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  if (minimum !== undefined) return `${minimum} or more`;
  return pattern === undefined ? '' : (shownPatterns[pattern] ?? `\`${pattern.replaceAll('|', '\\|')}\``);
}

/** Patterns, each with a text that is easier to read. */
const shownPatterns: Readonly<Record<string, string>> = {
  '^https?://': 'http or https',
  '^postgres(ql)?://': '`postgresql://…`',
  '-----BEGIN CERTIFICATE-----': 'PEM',
  '-----BEGIN [A-Z ]*PRIVATE KEY-----': 'PEM',
  '-----BEGIN NATS USER JWT-----': 'a creds file',
};

function textOf(variable: TSchema, key: string): string {
  const value: unknown = (variable as Readonly<Record<string, unknown>>)[key];
  return typeof value === 'string' ? value : '';
}

/** A program with all variables that it reads. */
type Program = { readonly name: string; readonly variables: TProperties };

/** The services. They share most variables about how a process runs. */
export const services: readonly Program[] = [
  { name: 'gateway', variables: gatewayEnv },
  { name: 'pipeline', variables: pipelineEnv },
  { name: 'control plane', variables: controlPlaneEnv },
];

/** Programs other than services. They share most of their variables with the services. */
export const tools: readonly Program[] = [
  { name: 'local stack', variables: { ...stackEnv, ...embeddedEnv } },
  { name: 'demo sink', variables: sinkEnv },
  { name: 'doctor', variables: doctorEnv },
  { name: 'compare-counts', variables: compareCountsEnv },
  { name: 'migrate', variables: migrateEnv },
  { name: 'keys', variables: databaseEnv },
  { name: 'sign-in-link', variables: { ...stackFolderEnv, ...databaseEnv } },
];
