import { format } from 'oxfmt';
import { faults } from './faults/registry.ts';
import { runbookPage } from './faults/runbook-page.ts';
import { readKeptResults, renderResultsPage } from './report/results-page.ts';
import { resultsFolder } from './report/save-result.ts';

/** The pages that the bench generates, with their paths from the top of the repository. */
export async function generatedPages(): Promise<readonly { readonly path: string; readonly text: string }[]> {
  const pages = [
    { path: 'deploy/runbook/faults.md', text: runbookPage(faults) },
    { path: 'bench/results/README.md', text: renderResultsPage(await readKeptResults(resultsFolder)) },
  ];
  return Promise.all(
    pages.map(async ({ path, text }) => {
      const { code } = await format(path, text, { singleQuote: true, printWidth: 120 });
      return { path, text: code };
    }),
  );
}
