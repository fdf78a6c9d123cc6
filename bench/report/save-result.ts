import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import stringify from 'json-stringify-pretty-compact';
import { topFolder } from '../../shared/runtime/compiled-path.ts';
import { condenseResult } from '../result/condense-result.ts';
import type { StoredResult } from '../result/stored-result.ts';
import { ResultFileError, readStoredResult } from '../result/stored-result.ts';
import { renderPage } from './page.ts';

export const resultsFolder = fileURLToPath(new URL('bench/results/', topFolder));

/** Writes `<date>-<scenario>.json`, in which percentiles replace readings, and returns its path. */
export async function saveResult(result: StoredResult, folder = resultsFolder): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = `${folder}${stamp(result.at)}-${result.scenario}.json`;
  // One figure per line, so that diffs of kept results are readable.
  await writeFile(path, `${stringify(condenseResult(result), { indent: 1, maxLength: 600 })}\n`);
  return path;
}

/** Writes a page with the charts of some results and returns its path. */
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

/** Writes the page of stored results. Returns the exit code. */
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
