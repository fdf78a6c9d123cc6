import { readdir } from 'node:fs/promises';
import { formatValue } from '../result/format-value.ts';
import { isBarMet } from '../result/result.ts';
import { readStoredResult } from '../result/stored-result.ts';
import type { StoredResult } from '../result/stored-result.ts';
import { formatAsk } from './table.ts';

/** A kept result with the name of its file. */
export type KeptResult = { readonly file: string; readonly result: StoredResult };

/** Reads the results that are kept in a folder, ordered by scenario. Throws for a quick run, which is not to be kept. */
export async function readKeptResults(folder: string): Promise<readonly KeptResult[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json'));
  const kept = await Promise.all(
    names.map(async (file) => ({ file, result: await readStoredResult(`${folder}${file}`) })),
  );
  const quick = kept.find(({ result }) => result.isQuick);
  if (quick !== undefined) throw new Error(`${folder}${quick.file} is a quick run, whose figures must not be quoted`);
  return kept.toSorted((a, b) => (a.result.scenario < b.result.scenario ? -1 : 1));
}

const intro = `# Results

The last kept run of each scenario: its bars, its measurements and its machine. All figures of a run are in its
file; older runs are in the history of this folder. Load, destination and servers share the cores of the machine named.

To keep a run, remove the scenario's previous file, commit the new one and run \`npm run generate\`, which writes this
page. Keep runs of three rounds or more, made without \`--quick\` on a quiet machine. Compare two builds in turn within one
run or with \`npm run bench -- compare BEFORE.json AFTER.json\`, never by two lines of this page: a shared machine can be
twice as fast an hour later. A decision that rests on a figure names the file and its commit.
`;

export function renderResultsPage(kept: readonly KeptResult[]): string {
  return [intro, ...kept.map(renderResult)].join('\n');
}

function renderResult({ file, result }: KeptResult): string {
  const { scenario, summary, at, machine, rows, bars, measured, failures = [] } = result;
  // Some scenarios measure once, whatever number of rounds is requested.
  const figures = rows.flatMap((row) => Object.values(row.figures));
  const rounds = Math.max(1, ...figures.map((figure) => (figure.values ?? figure.rounds).length));
  const made = [
    at.slice(0, 10),
    `revision ${machine.revision.slice(0, 8)}`,
    `${machine.cores} cores (${machine.cpu})`,
    `Node ${machine.node.slice(1)}`,
    `nats-server ${machine.natsServer}`,
    rounds === 1 ? '1 round' : `${rounds} rounds`,
  ];
  const head = [`## ${scenario}`, '', `${capitalized(summary)}. [${file}](${file}): ${made.join(', ')}.`, ''];
  if (bars.length === 0) return [...head, 'It has no bars; the file has its measurements.', ''].join('\n');
  const lines = bars.map((bar) => {
    const value = measured[bar.id];
    const seen = value === undefined ? 'not measured' : formatValue(value, bar.unit);
    const verdict = value === undefined ? '' : isBarMet(bar, value) ? 'met' : 'missed';
    return `| ${bar.text} | ${seen} | ${formatAsk(bar)} | ${verdict} |`;
  });
  const notes = failures.map((failure) => `Could not be measured: ${failure}.`);
  return [...head, '| Requirement | Measured | Bar | |', '| --- | --- | --- | --- |', ...lines, '', ...notes, ''].join(
    '\n',
  );
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
