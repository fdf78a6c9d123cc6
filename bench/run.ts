import { Command, InvalidArgumentError } from 'commander';
import { saveResult } from './report/save-result.ts';
import { renderTable } from './report/table.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios/registry.ts';

const quickSeconds = 2;

const program = new Command('bench')
  .description('Measures Sluice and its peers on this machine, each scenario from nothing.')
  .argument('[scenario]', 'which one to run; without it they are listed')
  .option('--seconds <n>', 'how long each measurement lasts', readSeconds, 5)
  .option('--quick', `measure ${quickSeconds} s each: to see that it works, not to quote`)
  .action(async (name: string | undefined, options: { readonly seconds: number; readonly quick?: boolean }) => {
    if (name === undefined) return list();
    const scenario = scenarios.find((candidate) => candidate.name === name);
    if (scenario === undefined) {
      return program.error(
        `there is no scenario '${name}'; there are: ${scenarios.map((each) => each.name).join(', ')}`,
      );
    }
    await runScenario(scenario, options.quick === true ? quickSeconds : options.seconds);
  });

await program.parseAsync();

function list(): void {
  for (const scenario of scenarios) say(`  ${scenario.name.padEnd(12)} ${scenario.summary}`);
  say('\nRun one: npm run bench -- <scenario> [--seconds N] [--quick]');
}

async function runScenario(scenario: Scenario, seconds: number): Promise<void> {
  say(`${scenario.name}: ${scenario.summary}`);
  const result = await scenario.run({ seconds, say, progress });
  say(`\n${renderTable(result)}\n`);
  say(`result: ${await saveResult(scenario.name, seconds, result)}`);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** One line that is written over on a terminal; elsewhere nothing, so that logs stay readable. */
function progress(text: string | undefined): void {
  if (!process.stdout.isTTY) return;
  process.stdout.write(`\r\u001B[2K${text ?? ''}`);
}

function readSeconds(value: string): number {
  const seconds = Number(value);
  if (!Number.isFinite(seconds) || seconds <= 0) throw new InvalidArgumentError('it must be a number above 0');
  return seconds;
}
