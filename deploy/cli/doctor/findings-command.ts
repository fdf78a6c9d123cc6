import { Command, InvalidArgumentError } from 'commander';
import type { Finding } from '../../../shared/doctor/finding.ts';
import { runCommand, runProgram } from '../../../shared/command-line/run-command.ts';
import { commandEnv } from '../../local/env.ts';
import { exitCodeOf, findingsJson, showFindings } from './show-findings.ts';

export type FindingsCommand = {
  readonly name: string;
  /** Purpose, and the meaning of the exit codes 0, 1 and 2. */
  readonly description: string;
  /** The command's own numeric options: default and meaning. */
  readonly counts?: readonly { readonly flags: string; readonly meaning: string; readonly byDefault: number }[];
  /** `deadlineMs` is the time limit of each check; `counts` has the options of `counts`. */
  examine(
    env: Readonly<Record<string, string | undefined>>,
    deadlineMs: number,
    counts: Readonly<Record<string, number>>,
  ): Promise<readonly Finding[]>;
};

const usageExitCode = 64;
const failedExitCode = 2;

/** Runs a checking command and prints its findings, as text or, with `--json`, for programs. */
export async function runFindingsCommand({ name, description, counts = [], examine }: FindingsCommand): Promise<void> {
  const program = new Command(name)
    .description(description)
    .option('--json', 'for programs')
    .option('--deadline <ms>', 'time limit of each check', readMs, 10_000)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : usageExitCode))
    .action(({ json, deadline, ...given }: Given) =>
      runCommand(
        name,
        async () => {
          const findings = await examine(commandEnv(), deadline, given);
          process.stdout.write(json === true ? findingsJson(findings) : showFindings(findings));
          // Exits at once, because a check that timed out may still hold a connection.
          process.exit(exitCodeOf(findings));
        },
        failedExitCode,
      ),
    );
  for (const { flags, meaning, byDefault } of counts) program.option(flags, meaning, readCount, byDefault);
  await runProgram(program);
}

type Given = { readonly json?: true; readonly deadline: number } & Record<string, number>;

function readCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 0 || text.trim() === '')
    throw new InvalidArgumentError('a number, 0 or more');
  return count;
}

function readMs(text: string): number {
  const ms = Number(text);
  if (!Number.isInteger(ms) || ms < 100) throw new InvalidArgumentError('a number of milliseconds, 100 or more');
  return ms;
}
