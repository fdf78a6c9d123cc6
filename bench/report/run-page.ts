import { readStoredResult, ResultFileError } from '../result/stored-result.ts';
import type { StoredResult } from '../result/stored-result.ts';
import { savePage } from './save-result.ts';

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
