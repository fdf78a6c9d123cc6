import type { TSchema } from 'typebox';
import { describeVariable } from './describe-variable.ts';
import { services, tools } from './programs.ts';
import type { Program } from './programs.ts';

const introduction = `# Environment

Made from the code by \`npm run generate\`: every variable is declared beside the module that uses it. A service refuses to
start with a list of everything wrong in its environment, names that are a slip away from a known one included.

Every variable may come from a file instead: \`NAME_FILE\` names a file that holds the value of \`NAME\`. That is the way for
what is marked secret. An empty value counts as not set. Numbers are written in the unit given, without it.
What to turn when is in [bench/TUNING.md](../bench/TUNING.md).
`;

/** The page of all settings: those of several services first, then those of each. */
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

/** A tool's own variables, and the names of those it reads as the services do. */
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
