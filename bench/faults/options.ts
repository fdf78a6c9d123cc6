import { Command, CommanderError, InvalidArgumentError } from 'commander';
import type { Fault } from './families/fault.ts';
import { obstacleTo } from './families/fault.ts';
import type { FaultOptions } from './run-fault.ts';

/** What `npm run faults` was asked to do. */
export type FaultOrder =
  | { readonly kind: 'run'; readonly faults: readonly Fault[]; readonly options: FaultOptions }
  /** Help or the list was asked for, or what was asked makes no sense: `text` says which. */
  | { readonly kind: 'said'; readonly text: string; readonly exitCode: number };

type Flags = {
  readonly seconds: number;
  readonly minutes?: number;
  readonly rate: number;
  readonly seed: number;
  readonly keep?: boolean;
};

const defaults = { seconds: 20, rate: 200, seed: 1 };

/** Reads a command line. */
export function readFaultOrder(args: readonly string[], faults: readonly Fault[]): FaultOrder {
  let said = '';
  const take = (text: string): void => {
    said += text;
  };
  const program = new Command('faults')
    .description('Breaks a stack under load and says what became of every acknowledged event.')
    .argument('[names...]', 'faults, or all; without any they are listed')
    .option('--seconds <n>', 'length of the load beside the fault itself', readPositive, defaults.seconds)
    .option('--minutes <n>', 'the same in minutes', readPositive)
    .option('--rate <n>', 'events a second', readPositive, defaults.rate)
    .option('--seed <n>', 'of what visitors send', readSeed, defaults.seed)
    .option('--keep', 'leave data and logs of the stack, and say where')
    .exitOverride()
    .configureOutput({ writeOut: take, writeErr: take });
  try {
    program.parse(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { kind: 'said', text: said.trimEnd(), exitCode: error.exitCode };
  }
  if (program.args.length === 0) return { kind: 'said', text: listFaults(faults), exitCode: 0 };
  const unknown = program.args.filter((name) => name !== 'all' && !faults.some((fault) => fault.name === name));
  if (unknown.length > 0) {
    return {
      kind: 'said',
      text: `error: there is no fault '${unknown.join("', '")}'; npm run faults lists those there are`,
      exitCode: 1,
    };
  }
  const chosen = faults.filter(({ name }) => program.args.includes('all') || program.args.includes(name));
  const { seconds, minutes, rate, seed, keep } = program.opts<Flags>();
  const options = {
    seconds: minutes === undefined ? seconds : minutes * 60,
    ratePerS: rate,
    seed,
    isKept: keep === true,
  };
  return { kind: 'run', faults: chosen, options };
}

function listFaults(faults: readonly Fault[]): string {
  const width = Math.max(...faults.map(({ name }) => name.length)) + 2;
  return [
    ...faults.map((fault) => {
      const obstacle = obstacleTo(fault);
      return `  ${fault.name.padEnd(width)}${fault.about}${obstacle === undefined ? '' : ` (not by this account: ${obstacle})`}`;
    }),
    '',
    'npm run faults -- <fault> … | all [--seconds N | --minutes N] [--rate N] [--seed N] [--keep]',
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
