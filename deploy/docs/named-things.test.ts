import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { topFolder } from '../../shared/runtime/compiled-path.ts';
import { metricsTable } from '../prometheus/metrics-table.ts';

const git = async (...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)('git', args, { cwd: fileURLToPath(topFolder), maxBuffer: 64 * 1024 ** 2 })).stdout;

type Name = { readonly page: string; readonly name: string };

/** Names in code marks on pages. The changelog and decision records are left out: they also name what was removed. */
async function named(pattern: RegExp): Promise<readonly Name[]> {
  const pages = (await git('ls-files', '*.md'))
    .split('\n')
    .filter((page) => page !== '' && page !== 'CHANGELOG.md' && !page.includes('/decisions/'));
  const names = await Promise.all(
    pages.map(async (page) => {
      const text = await readFile(new URL(page, topFolder), 'utf8');
      return [...text.matchAll(pattern)].map(([, name = '']) => ({ page, name }));
    }),
  );
  return names.flat();
}

// `sluice_control_plane` is left out: it is a role in PostgreSQL, not a metric.
test('pages: every metric named on a page exists', async () => {
  const metrics = new Set(metricsTable().match(/\bsluice_[a-z0-9_]+/g));
  // The table lists a histogram by its name; queries name its series `_bucket`, `_sum` and `_count`.
  const isKnown = (name: string): boolean =>
    metrics.has(name) || metrics.has(name.replace(/_(?:bucket|sum|count)$/, ''));
  const names = await named(/`[^`\n]*?\b(?!sluice_control_plane\b)(sluice_[a-z0-9]+_[a-z0-9_]*[a-z0-9])\b/g);
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter(({ name }) => !isKnown(name))).toEqual([]);
});

const removed = ':!shared/runtime/removed-variables.ts';

test('pages: every variable named on a page is read by a service, a command, a server or a script', async () => {
  const words = await git('grep', '-ohwE', '[A-Z][A-Z0-9]*(_[A-Z0-9]+)+', '--', ':!*.md', ':!*.test.ts', removed);
  const known = new Set(words.split('\n'));
  const names = await named(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`\n]*)?`/g);
  expect(names.length).toBeGreaterThan(200);
  // `NAME_FILE` is known if `NAME` is: every variable can be read from a file.
  expect(names.filter(({ name }) => !known.has(name) && !known.has(name.replace(/_FILE$/, '')))).toEqual([]);
});
