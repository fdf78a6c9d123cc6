import { Command, CommanderError, InvalidArgumentError } from 'commander';

/** The parsed command line of the bench. */
export type BenchOrder =
  | { readonly kind: 'list' }
  | { readonly kind: 'run'; readonly names: readonly string[]; readonly options: RunOptions }
  | { readonly kind: 'compare'; readonly before: string; readonly after: string; readonly failOnRegression: boolean }
  /** Renders the page of stored results. */
  | { readonly kind: 'page'; readonly files: readonly string[] }
  /** Help was requested, or the arguments are invalid: `text` is the output. */
  | { readonly kind: 'said'; readonly text: string; readonly exitCode: number };

export type RunOptions = Lengths & {
  /** Lengths given on the command line, which override a scenario's usual lengths. */
  readonly asked: Partial<Pick<Lengths, 'seconds' | 'rounds'>>;
  readonly isQuick: boolean;
  /** For neighbours: names of the attacks to run; empty: all attacks. */
  readonly attacks: readonly string[];
  /** For dispatch: numbers of destinations to measure; empty: all that the scenario has. */
  readonly destinations: readonly number[];
  /** Environment variables of the services in addition to a scenario's own. */
  readonly settings: Readonly<Record<string, string>>;
  /** Folder in which every thread of the services writes a CPU profile when it ends; undefined for no profiles. */
  readonly profileFolder?: string;
};

/** Lengths of the parts of a run. */
export type Lengths = {
  readonly seconds: number;
  /** Minimum duration of a warm-up, which continues until the rate is steady. */
  readonly warmUpSeconds: number;
  /** Maximum duration of a warm-up, whether the rate is steady or not. */
  readonly warmUpSecondsMax: number;
  readonly rounds: number;
  readonly minutes: number;
};

const normal: Lengths = { seconds: 5, warmUpSeconds: 3, warmUpSecondsMax: 12, rounds: 3, minutes: 10 };
const quick: Lengths = { seconds: 2, warmUpSeconds: 1, warmUpSecondsMax: 8, rounds: 1, minutes: 0.25 };

type Flags = {
  readonly seconds?: number;
  readonly rounds?: number;
  readonly minutes?: number;
  readonly quick?: boolean;
  readonly attacks?: readonly string[];
  readonly destinations?: readonly number[];
  readonly failOnRegression?: boolean;
  readonly set?: Readonly<Record<string, string>>;
  readonly profile?: string;
};

/** Options with a scenario's usual lengths, unless the run is quick; lengths from the command line take precedence. */
export function lengthsFor(options: RunOptions, usual: Partial<Lengths> = {}): RunOptions {
  return options.isQuick ? options : { ...options, ...usual, ...options.asked };
}

/** A scenario's name, and whether it takes too long to run with the others. */
export type ScenarioName = { readonly name: string; readonly isLong?: boolean };

/** Parses a command line. `variables` are the names that --set accepts. */
export function readOrder(
  args: readonly string[],
  scenarios: readonly ScenarioName[],
  variables: ReadonlySet<string>,
): BenchOrder {
  let said = '';
  const program = new Command('bench')
    .description('Measures Sluice and its peers on this machine, each scenario on new servers.')
    .argument('[scenario]', 'a scenario, all, compare or page; without it, scenarios are listed')
    .argument('[operands...]', 'compare: two result files; page: one or more')
    .option('--seconds <n>', `length of each measurement (default ${normal.seconds})`, readPositive)
    .option('--rounds <n>', `times the subjects are measured in turn (default ${normal.rounds})`, readCount)
    .option('--minutes <n>', `length of a soak (default ${normal.minutes})`, readPositive)
    .option('--quick', `one round of ${quick.seconds} s: checks that it works; do not quote its figures`)
    .option('--attacks <names>', 'neighbours: attacks to run, comma separated (default all)', readNames)
    .option(
      '--destinations <numbers>',
      'dispatch: numbers of destinations, comma separated (default: all that it measures)',
      readCounts,
    )
    .option('--set <NAME=VALUE>', 'a variable of gateway or pipeline; may be repeated', readSetting)
    .option(
      '--profile <folder>',
      'write CPU profiles of every thread of the services to this folder; figures then include profiling',
    )
    .option('--fail-on-regression', 'compare: exit with 1 when a figure got measurably worse')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        said += text;
      },
      writeErr: (text) => {
        said += text;
      },
    });
  try {
    program.parse(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { kind: 'said', text: said.trimEnd(), exitCode: error.exitCode };
  }
  const [name, ...operands] = program.args;
  const flags = program.opts<Flags>();
  const unknown = Object.keys(flags.set ?? {}).filter((variable) => !variables.has(variable));
  // If the name is mistyped, the default would be measured and reported as the setting.
  if (unknown.length > 0) return wrong(`neither gateway nor pipeline reads ${unknown.join(', ')}`);
  return orderOf(name, operands, flags, scenarios);
}

function orderOf(
  name: string | undefined,
  operands: readonly string[],
  flags: Flags,
  scenarios: readonly ScenarioName[],
): BenchOrder {
  const isQuick = flags.quick === true;
  if (name === undefined) return { kind: 'list' };
  if (name === 'compare') {
    const [before, after, ...more] = operands;
    if (before === undefined || after === undefined || more.length > 0) {
      return wrong('compare needs two result files: npm run bench -- compare before.json after.json');
    }
    return { kind: 'compare', before, after, failOnRegression: flags.failOnRegression === true };
  }
  if (name === 'page') {
    return operands.length > 0 ? { kind: 'page', files: operands } : wrong('page needs result files');
  }
  if (operands.length > 0) return wrong(`${name} takes no further argument: ${operands.join(' ')}`);
  const chosen = scenarios.filter((each) => (name === 'all' ? each.isLong !== true : each.name === name));
  if (chosen.length === 0) {
    return wrong(
      `there is no scenario '${name}'; there are: ${scenarios.map((each) => each.name).join(', ')}, all, compare, page`,
    );
  }
  const usual = isQuick ? quick : normal;
  const asked = {
    ...(flags.seconds === undefined ? {} : { seconds: flags.seconds }),
    ...(flags.rounds === undefined ? {} : { rounds: flags.rounds }),
  };
  const options: RunOptions = {
    ...usual,
    ...asked,
    asked,
    minutes: flags.minutes ?? usual.minutes,
    isQuick,
    attacks: flags.attacks ?? [],
    destinations: flags.destinations ?? [],
    settings: flags.set ?? {},
    ...(flags.profile === undefined ? {} : { profileFolder: flags.profile }),
  };
  return { kind: 'run', names: chosen.map((each) => each.name), options };
}

const wrong = (text: string): BenchOrder => ({ kind: 'said', text: `error: ${text}`, exitCode: 1 });

function readPositive(value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !Number.isFinite(number) || number <= 0) {
    throw new InvalidArgumentError('it must be a number above 0');
  }
  return number;
}

function readCount(value: string): number {
  const number = readPositive(value);
  if (!Number.isInteger(number)) throw new InvalidArgumentError('it must be a whole number');
  return number;
}

function readNames(value: string): readonly string[] {
  const names = value.split(',').map((name) => name.trim());
  if (names.includes('')) throw new InvalidArgumentError('it must be names, comma separated');
  return names;
}

function readCounts(value: string): readonly number[] {
  return value.split(',').map(readCount);
}

function readSetting(value: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const match = /^([A-Z][A-Z0-9_]*)=(.*)$/.exec(value);
  if (match?.[1] === undefined || match[2] === undefined) throw new InvalidArgumentError('it must read NAME=VALUE');
  return { ...before, [match[1]]: match[2] };
}
