import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { createChaos } from './chaos/chaos.ts';
import { drawFaults } from './chaos/draw-faults.ts';
import { meansHere, obstacleTo } from './families/fault.ts';
import type { Fault } from './families/fault.ts';
import type { FaultOptions } from './run-fault.ts';
import { createRandom } from './visitors.ts';

/** The parsed options of `npm run faults`. */
export type FaultOrder =
  | {
      readonly kind: 'run';
      readonly faults: readonly Fault[];
      readonly options: FaultOptions;
      /** The command that repeats the run. */
      readonly again: string;
    }
  /** Help or the list was requested, or the arguments are invalid: `text` is the output. */
  | { readonly kind: 'said'; readonly text: string; readonly exitCode: number };

type Flags = {
  readonly seconds: number;
  readonly minutes?: number;
  readonly rate: number;
  readonly seed?: number;
  readonly keep?: boolean;
  readonly previous?: string;
};

const defaults = { seconds: 20, rate: 200, chaosMinutes: 5 };
const seedMax = 1_000_000;

/** Parses a command line. `chance` returns a number in [0, 1), from which the seed is made if none is given. */
export function readFaultOrder(
  args: readonly string[],
  faults: readonly Fault[],
  chance: () => number = Math.random,
): FaultOrder {
  let said = '';
  const take = (text: string): void => {
    said += text;
  };
  const program = new Command('faults')
    .description('Breaks a stack under load and reports the outcome of every acknowledged event.')
    .argument('[names...]', 'faults, all, or chaos (random faults that overlap); without names, the faults are listed')
    .option('--seconds <n>', 'length of the load in addition to the fault itself', readPositive, defaults.seconds)
    .option(
      '--minutes <n>',
      `the same in minutes; for chaos, the time in which faults begin (${defaults.chaosMinutes})`,
      readPositive,
    )
    .option('--rate <n>', 'events per second', readPositive, defaults.rate)
    .option('--seed <n>', 'seed of the visitors and of chaos (random by default)', readSeed)
    .option('--previous <folder>', 'folder of another version, checked out and built, for the upgrade')
    .option('--keep', 'keep the data and logs of the stack, and print their folder')
    .exitOverride()
    .configureOutput({ writeOut: take, writeErr: take });
  try {
    program.parse(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { kind: 'said', text: said.trimEnd(), exitCode: error.exitCode };
  }
  if (program.args.length === 0) return { kind: 'said', text: listFaults(faults), exitCode: 0 };
  const unknown = program.args.filter((name) => !words.has(name) && !faults.some((fault) => fault.name === name));
  if (unknown.length > 0) {
    return {
      kind: 'said',
      text: `error: there is no fault '${unknown.join("', '")}'; npm run faults lists all faults`,
      exitCode: 1,
    };
  }
  const { seconds, minutes, rate, keep, previous, ...given } = program.opts<Flags>();
  const seed = given.seed ?? Math.floor(chance() * seedMax);
  const hasChaos = program.args.includes('chaos');
  if (hasChaos && program.args.length > 1) {
    return { kind: 'said', text: 'error: chaos draws its faults itself: name no other fault with it', exitCode: 1 };
  }
  const chosen = faults.filter(({ name }) => program.args.includes('all') || program.args.includes(name));
  const chaosMs = (minutes ?? defaults.chaosMinutes) * msPerMinute;
  const usable = faults.filter((fault) => obstacleTo(fault, meansHere(previous)) === undefined);
  return {
    kind: 'run',
    faults: hasChaos ? [createChaos(drawFaults(usable, chaosMs, createRandom(seed)))] : chosen,
    options: {
      seconds: minutes === undefined || hasChaos ? seconds : minutes * secondsPerMinute,
      ratePerS: rate,
      seed,
      isKept: keep === true,
      previous,
    },
    again: `npm run faults -- ${[...args.filter((_, index) => !isOfSeed(args, index)), '--seed', seed].join(' ')}`,
  };
}

const words: ReadonlySet<string> = new Set(['all', 'chaos']);
const msPerMinute = 60_000;
const secondsPerMinute = 60;

const isOfSeed = (args: readonly string[], index: number): boolean =>
  args[index] === '--seed' || args[index - 1] === '--seed' || args[index]?.startsWith('--seed=') === true;

function listFaults(faults: readonly Fault[]): string {
  const width = Math.max(...faults.map(({ name }) => name.length)) + 2;
  return [
    ...faults.map((fault) => {
      const obstacle = obstacleTo(fault, meansHere());
      return `  ${fault.name.padEnd(width)}${fault.about}${obstacle === undefined ? '' : ` (not here: ${obstacle})`}`;
    }),
    '',
    '  chaos: some of them, drawn at random, overlapping',
    '',
    'npm run faults -- <fault> … | all | chaos [--seconds N] [--minutes N] [--rate N] [--seed N] [--previous F] [--keep]',
  ].join('\n');
}

function readPositive(value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !Number.isFinite(number) || number <= 0) {
    throw new InvalidArgumentError('it must be a number above 0');
  }
  return number;
}

function readSeed(value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !Number.isInteger(number) || number < 0) {
    throw new InvalidArgumentError('it must be a whole number');
  }
  return number;
}
