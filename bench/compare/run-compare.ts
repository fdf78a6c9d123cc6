import { describeTrouble } from '../machine/describe-trouble.ts';
import { formatValue } from '../result/format-value.ts';
import type { StoredResult } from '../result/stored-result.ts';
import { ResultFileError, readStoredResult } from '../result/stored-result.ts';
import type { Comparison } from './compare-results.ts';
import { compareResults, leastChange } from './compare-results.ts';

export type CompareOrder = { readonly before: string; readonly after: string; readonly failOnRegression: boolean };

/** Compares two results. Exit code 1: a figure got worse and `failOnRegression` is set; 2: nothing to compare. */
export async function runCompare(order: CompareOrder, say: (text: string) => void): Promise<number> {
  try {
    const [before, after] = [await readStoredResult(order.before), await readStoredResult(order.after)];
    if (before.scenario !== after.scenario) {
      say(`error: the scenarios differ, ${before.scenario} and ${after.scenario}: the results cannot be compared`);
      return 2;
    }
    say(`before: ${before.scenario}, ${before.at}, revision ${before.machine.revision}`);
    say(`after:  ${after.scenario}, ${after.at}, revision ${after.machine.revision}`);
    for (const difference of differencesOf(before, after)) say(`! not the same ${difference}`);
    for (const [name, { machine }] of Object.entries({ before, after })) {
      const trouble = describeTrouble(machine);
      if (trouble !== undefined) say(`! ${name}: ${trouble}`);
    }
    const comparisons = compareResults(before, after);
    if (comparisons.length === 0) {
      say('the two results have no figure in common');
      return 2;
    }
    say(`\n${comparisons.map(describe).join('\n')}\n`);
    say('+ better, ✗ worse, = no measurable difference, ? not judged');
    const worse = comparisons.filter(({ verdict }) => verdict === 'worse');
    const unknown = comparisons.filter(({ verdict }) => verdict === 'unknown');
    say(`${worse.length} of ${comparisons.length} worse by more than ${leastChange * 100} % at 95 % confidence`);
    if (unknown.length > 0)
      say(`${unknown.length} not judged: judging takes at least two rounds, and more rounds detect smaller changes`);
    return worse.length > 0 && order.failOnRegression ? 1 : 0;
  } catch (error) {
    if (!(error instanceof ResultFileError)) throw error;
    say(`error: ${error.message}`);
    return 2;
  }
}

const signs = { better: '+', worse: '✗', same: '=', unknown: '?' } as const;

function describe({ subject, figure, unit, before, after, interval, verdict }: Comparison): string {
  const percent = (ratio: number): string => `${ratio >= 1 ? '+' : ''}${((ratio - 1) * 100).toFixed(1)} %`;
  const scatter = interval === undefined ? 'no interval' : `${percent(interval.low)} to ${percent(interval.high)}`;
  const values = `${formatValue(before, unit)} → ${formatValue(after, unit)}`;
  return `${signs[verdict]} ${`${subject}, ${figure}`.padEnd(52)} ${values.padStart(28)}   ${scatter}`;
}

/** Two disks whose sync times differ by more than this factor are different disks, even if all else is equal. */
const diskFactorMax = 2;

/** Differences in machine, versions and settings that make two results incomparable, or that a reader has to know. */
export function differencesOf(before: StoredResult, after: StoredResult): string[] {
  const [one, other] = [factsOf(before), factsOf(after)];
  const changed = [...new Set([...one.keys(), ...other.keys()])]
    .filter((name) => one.get(name) !== other.get(name))
    .map((name) => `${name}: ${one.get(name) ?? 'not given'} against ${other.get(name) ?? 'not given'}`);
  const [disk, otherDisk] = [before.machine.disk.p50, after.machine.disk.p50];
  const factor = Math.max(disk, otherDisk) / Math.min(disk, otherDisk);
  if (factor <= diskFactorMax) return changed;
  return [...changed, `disk: a sync took ${disk.toFixed(3)} ms against ${otherDisk.toFixed(3)} ms`];
}

function factsOf({ machine, settings, isQuick }: StoredResult): ReadonlyMap<string, string> {
  const { cpu, cores, memoryGiB, os, node, natsServer, packages } = machine;
  const { environment = {}, ...others } = settings;
  const facts: Readonly<Record<string, unknown>> = {
    cpu,
    cores,
    memoryGiB,
    os,
    node,
    'nats-server': natsServer,
    quick: isQuick,
    ...packages,
    ...others,
    ...(environment as Readonly<Record<string, unknown>>),
  };
  return new Map(
    Object.entries(facts).map(([name, fact]) => [name, typeof fact === 'string' ? fact : JSON.stringify(fact)]),
  );
}
