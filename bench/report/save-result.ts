import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { topFolder } from '../../shared/runtime/compiled-path.ts';
import { condenseResult } from '../result/condense-result.ts';
import type { StoredResult } from '../result/stored-result.ts';
import { ResultFileError, readStoredResult } from '../result/stored-result.ts';
import { renderPage } from './page.ts';

const resultsFolder = fileURLToPath(new URL('bench/results/', topFolder));

/** Writes `<date>-<scenario>.json`, with percentiles in the place of readings, and returns its path. */
export async function saveResult(result: StoredResult, folder = resultsFolder): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = `${folder}${stamp(result.at)}-${result.scenario}.json`;
  await writeFile(path, `${writeRows(condenseResult(result))}\n`);
  return path;
}

/** Writes one page with charts of one or several results and returns its path. */
export async function savePage(
  name: string,
  results: readonly StoredResult[],
  folder = resultsFolder,
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = `${folder}${stamp(results.at(-1)?.at ?? '')}-${name}.html`;
  await writeFile(path, await renderPage(results));
  return path;
}

const stamp = (at: string): string => at.slice(0, 19).replaceAll(':', '');

/** JSON with each list of numbers, or of such lists, on one line: a kept result is read in diffs. */
function writeRows(value: unknown): string {
  return JSON.stringify(value, undefined, 1).replaceAll(/\[[\s\d.,eE+\-null[\]]*\]/g, (list) =>
    list.replaceAll(/\s+/g, ''),
  );
}

/** Draws the page of results that are kept. Returns the exit code. */
export async function runPage(files: readonly string[], say: (text: string) => void, folder?: string): Promise<number> {
  try {
    const results: StoredResult[] = [];
    for (const file of files) results.push(await readStoredResult(file));
    const name = results.length === 1 ? (results[0]?.scenario ?? '') : 'report';
    say(`page: ${await savePage(name, results, folder)}`);
    return 0;
  } catch (error) {
    if (!(error instanceof ResultFileError)) throw error;
    say(`error: ${error.message}`);
    return 2;
  }
}
