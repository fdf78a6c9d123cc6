import { readFile } from 'node:fs/promises';
import { Command, InvalidArgumentError } from 'commander';
import { runCommand, runProgram } from '../../../shared/command-line/run-command.ts';
import { credentialsFile } from '../../local/credentials.ts';
import { compareCounts, findRemarks } from './compare-counts.ts';
import { readStackFolder } from '../../../shared/command-line/local-stack.ts';
import { readCompareCountsEnv } from './env.ts';
import { readExport } from './read-export.ts';
import { readOurCounts } from './read-our-counts.ts';
import type { CountsAccess } from './read-our-counts.ts';
import { showComparison } from './show-comparison.ts';

type Options = {
  readonly event?: string;
  readonly time?: string;
  readonly count?: string;
  readonly tolerance: number;
  readonly keyFile?: string;
  readonly json?: true;
};

const exitCodes = { differs: 1, failed: 2, usage: 64 } as const;

// Checks whether another service and this one, run side by side, count the same events.
const program = new Command('compare-counts')
  .description(
    'Compares the counts of another service with the events received here, by event name and day (UTC), and explains the ' +
      'differences. Exit: 0 all agree, 1 something differs, 2 the counts could not be compared.',
  )
  .argument(
    '<export>',
    'export of the other service: CSV with a header, or JSON; counts by name and day, or the events themselves',
  )
  .option('--event <column>', 'the column with the name; found by its usual names')
  .option('--time <column>', 'the column with the day or the time; found by its usual names')
  .option('--count <column>', 'the column with the count; without it each row is one event')
  .option('--tolerance <percent>', 'tolerated difference, in % of the count of the other service', readPercent, 0)
  .option(
    '--key-file <path>',
    'file with an API key of CONTROL_PLANE_URL with the scope event:list (default: the key of the local stack)',
  )
  .option('--json', 'for programs')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : exitCodes.usage))
  .action((file: string, options: Options) =>
    runCommand('compare-counts', () => compare(file, options), exitCodes.failed),
  );

await runProgram(program);

async function compare(file: string, { event, time, count, tolerance, keyFile, json }: Options): Promise<number> {
  const theirs = readExport(await readFile(file, 'utf8'), { event, time, count });
  const days = theirs.map(({ day }) => day).toSorted();
  const ours = await readOurCounts(await readAccess(keyFile), { first: days[0] ?? '', last: days.at(-1) ?? '' });
  const compared = compareCounts(theirs, ours, tolerance / 100);
  const remarks = findRemarks(compared, tolerance / 100);
  const text =
    json === true ? `${JSON.stringify({ compared, remarks }, null, 2)}\n` : showComparison(compared, remarks);
  process.stdout.write(text);
  const whole = compared.filter(({ verdict }) => verdict !== 'partial');
  if (whole.length === 0) return exitCodes.failed;
  return whole.every(({ verdict }) => verdict === 'same') ? 0 : exitCodes.differs;
}

/** Where to read counts: at CONTROL_PLANE_URL with the key in `keyFile`, else from the local stack. */
async function readAccess(keyFile: string | undefined): Promise<CountsAccess> {
  const env = readCompareCountsEnv();
  const { CONTROL_PLANE_URL } = env;
  const key = keyFile === undefined ? undefined : (await readFile(keyFile, 'utf8')).trim();
  if (CONTROL_PLANE_URL !== undefined && key !== undefined) return { controlPlane: CONTROL_PLANE_URL, apiKey: key };
  const stack = credentialsFile(readStackFolder(env));
  const text = await readFile(stack, 'utf8').catch(() => undefined);
  if (text === undefined) {
    throw new Error(
      `set CONTROL_PLANE_URL and give --key-file, or start the local stack: there is no ${stack} with both`,
    );
  }
  const { controlPlane, apiKey } = JSON.parse(text) as CountsAccess;
  return { controlPlane: CONTROL_PLANE_URL ?? controlPlane, apiKey: key ?? apiKey };
}

function readPercent(text: string): number {
  const percent = Number(text);
  if (text === '' || !(percent >= 0 && percent <= 100)) throw new InvalidArgumentError('a percentage, 0 to 100');
  return percent;
}
