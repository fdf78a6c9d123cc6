import { Command, InvalidArgumentError } from 'commander';
import { inheritedEnv } from '../local/env.ts';
import { examine } from './examine.ts';
import { exitCodeOf, findingsJson, showFindings } from './show-findings.ts';

const usageExitCode = 64;

// Looks before somebody wonders: what is wrong with this machine, its environment and the servers it names.
const program = new Command('doctor')
  .description(
    'Looks at this machine and at the servers its environment names, and says what to do. Exit: 0 well, 1 something to look at, 2 broken.',
  )
  .option('--json', 'for programs')
  .option('--deadline <ms>', 'what each check may take', readMs, 10_000)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : usageExitCode))
  .action(async ({ json, deadline }: { json?: true; deadline: number }) => {
    const findings = await examine(inheritedEnv(), deadline);
    process.stdout.write(json === true ? findingsJson(findings) : showFindings(findings));
    // A check that passed its deadline may still hold a connection.
    process.exit(exitCodeOf(findings));
  });

await program.parseAsync();

function readMs(text: string): number {
  const ms = Number(text);
  if (!Number.isInteger(ms) || ms < 100) throw new InvalidArgumentError('a number of milliseconds, 100 or more');
  return ms;
}
