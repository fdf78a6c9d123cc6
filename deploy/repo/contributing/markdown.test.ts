import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { slugOf } from '../../docs/page.ts';

const top = join(import.meta.dirname, '../../..');
/** Written by `npm run generate`. */
const generated = new Set(['deploy/runbook/alerts.md', 'deploy/runbook/faults.md', 'bench/results/README.md']);
/** Maximum size of all pages, decision records and the changelog together. Tables are written without padding. */
const handWrittenBytesMax = 250 * 1024;

const pages = new Map<string, string>();
let files: ReadonlySet<string>;
beforeAll(async () => {
  const { stdout } = await promisify(execFile)('git', ['ls-files'], { cwd: top });
  const paths = stdout.split('\n').filter((path) => path !== '');
  files = new Set(paths.flatMap((path) => [path, ...foldersOf(path)]));
  for (const path of paths.filter((one) => one.endsWith('.md')))
    pages.set(path, await readFile(join(top, path), 'utf8'));
});

function foldersOf(path: string): readonly string[] {
  const folder = posix.dirname(path);
  return folder === '.' ? [] : [folder, ...foldersOf(folder)];
}

/** A page without the README's table of destination kinds, which is generated too. */
const handWritten = (page: string): string =>
  page.replace(/^<!-- destination kinds: [\s\S]*^<!-- end of destination kinds -->$/m, '');

test('Markdown: hand-written text stays small enough to be read and kept correct', () => {
  for (const path of generated) expect(pages.has(path)).toBe(true);
  const sizes = [...pages].flatMap(([path, page]) =>
    generated.has(path) ? [] : [Buffer.byteLength(handWritten(page))],
  );
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(handWrittenBytesMax);
});

/** Anchors of a page's headings, as GitHub names them. */
function headingsOf(page: string): ReadonlySet<string> {
  const text = page.replaceAll(/^```[\s\S]*?^```$/gm, '');
  return new Set(
    [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
      slugOf(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')),
    ),
  );
}

/** Links of a page to a missing file or heading. Links to `/docs/` are left out: the site's build checks them. */
function deadLinks(path: string, page: string): readonly string[] {
  const text = page.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, href = '']) => {
    if (/^(?:https?:|mailto:|\/docs\/)/.test(href)) return [];
    const [file = '', hash = ''] = href.split('#', 2);
    const target = file === '' ? path : posix.normalize(posix.join(posix.dirname(path), file));
    const isThere =
      files.has(target.replace(/\/$/, '')) && (hash === '' || headingsOf(pages.get(target) ?? '').has(hash));
    return isThere ? [] : [`${path}: ${href}`];
  });
}

test('Markdown: every link leads to an existing file and heading', () => {
  expect([...pages].flatMap(([path, page]) => deadLinks(path, page))).toEqual([]);
  expect(deadLinks('deploy/runbook/x.md', '[a](README.md) [b](gone.md) [c](README.md#gone)')).toEqual([
    'deploy/runbook/x.md: gone.md',
    'deploy/runbook/x.md: README.md#gone',
  ]);
});
