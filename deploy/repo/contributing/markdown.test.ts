import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { slugOf } from '../../docs/page.ts';

const top = join(import.meta.dirname, '../../..');
/** Written by `npm run generate`. */
const generated = new Set(['deploy/runbook/alerts.md', 'deploy/runbook/faults.md', 'bench/results/README.md']);
/**
 * Of all pages and decision records together. The changelog does not count: it grows with each release, which is no reason to
 * shorten a page.
 */
const handWrittenBytesMax = 244_000;

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

/** The bytes of a page without the README's table of destination kinds, and without the padding that the formatter adds to tables. */
function writtenBytes(page: string): number {
  const lines = page
    .replace(/^<!-- destination kinds: [\s\S]*^<!-- end of destination kinds -->$/m, '')
    .split('\n')
    .map((line) => (line.startsWith('|') ? line.replaceAll(/ {2,}/g, ' ').replaceAll(/-{4,}/g, '---') : line));
  return Buffer.byteLength(lines.join('\n'));
}

test('Markdown: pages and decision records stay small enough to be read and kept true', () => {
  for (const path of generated) expect(pages.has(path)).toBe(true);
  const counted = [...pages].filter(([path]) => !generated.has(path) && path !== 'CHANGELOG.md');
  const sizes = counted.map(([, page]) => writtenBytes(page));
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(handWrittenBytesMax);
  expect(writtenBytes('| a   | b |\n| --- | ------ |\n')).toBe(writtenBytes('| a | b |\n| --- | --- |\n'));
});

/** Headings of a page as GitHub names them. */
function headingsOf(page: string): ReadonlySet<string> {
  const text = page.replaceAll(/^```[\s\S]*?^```$/gm, '');
  return new Set(
    [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
      slugOf(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')),
    ),
  );
}

/** Links of a page that lead to no file, or to no heading of it. Those to `/docs/` are the site's, whose build checks them. */
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

test('Markdown: every link leads to a file and a heading that are there', () => {
  expect([...pages].flatMap(([path, page]) => deadLinks(path, page))).toEqual([]);
  expect(deadLinks('deploy/runbook/x.md', '[a](README.md) [b](gone.md) [c](README.md#gone)')).toEqual([
    'deploy/runbook/x.md: gone.md',
    'deploy/runbook/x.md: README.md#gone',
  ]);
});
