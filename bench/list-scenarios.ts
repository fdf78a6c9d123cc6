import { formatAsk } from './report/table.ts';
import type { Scenario } from './system/scenario.ts';

/** The list of scenarios with their bars, as text for a terminal. */
export function listScenarios(scenarios: readonly Scenario[]): string {
  const width = Math.max(7, ...scenarios.map(({ name }) => name.length)) + 2;
  const lines = scenarios.flatMap(({ name, summary, bars }) => [
    `  ${name.padEnd(width)}${summary}`,
    ...bars.map((bar) => `  ${''.padEnd(width)}  ${formatAsk(bar)}  ${bar.text}`),
  ]);
  return [
    ...lines,
    `  ${'all'.padEnd(width)}all of them except ${scenarios
      .filter(({ isLong }) => isLong === true)
      .map(({ name }) => name)
      .join(' and ')}, in one report`,
    `  ${'compare'.padEnd(width)}compares two results: which figures got better or worse`,
    `  ${'page'.padEnd(width)}writes stored results as one page with charts`,
    '',
    'npm run bench -- <scenario> [--seconds N] [--rounds N] [--minutes N] [--quick] [--attacks A,B] [--destinations N,M] [--set NAME=VALUE] [--profile FOLDER]',
    'npm run bench -- compare before.json after.json [--fail-on-regression]',
    'npm run bench -- page result.json …',
  ].join('\n');
}
