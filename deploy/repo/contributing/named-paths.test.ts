import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const top = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

/** Every file there is, and every folder with a slash behind it. */
async function paths(): Promise<readonly string[]> {
  const { stdout } = await run('git', ['ls-files'], { cwd: top });
  const files = stdout.split('\n').filter((path) => path !== '');
  const folders = files.flatMap((path) => [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1)));
  return [...files, ...new Set(folders)];
}

/** What a page names as a file or a folder of ours. `<kind>` and `*` stand for any name. */
function namedPaths(page: string): readonly string[] {
  const code = [...page.matchAll(/`([^`\s]+)`/g)].map(([, text = '']) => text);
  const ours = /^(?:gateway|pipeline|control-plane|shared|bench|deploy)\//;
  return [
    ...new Set(code.filter((text) => /^[\w<>*./-]+\.ts$/.test(text) || ours.test(text) || /^[a-z-]+\/$/.test(text))),
  ];
}

/** Whether one of `known` is, or ends in, what is named: within a walk a path begins in the room it has come to. */
function isKnown(name: string, known: readonly string[]): boolean {
  const pattern = name.replaceAll(/[.+^$()[\]{}|\\]/g, String.raw`\$&`).replaceAll(/<\w+>|\*/g, '[^/]+');
  const searched = new RegExp(`(?:^|/)${pattern}/?$`);
  return known.some((path) => searched.test(path));
}

test.each(['ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'])(
  '%s: every file and folder it names is there',
  async (page) => {
    const known = await paths();
    const named = namedPaths(await readFile(join(top, page), 'utf8'));
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !isKnown(name, known))).toEqual([]);
  },
);

/** Pages of Markdown between the links of `(…)`, without those that lead elsewhere. */
function linkedPaths(page: string): readonly string[] {
  return [...page.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target);
}

const isRecord = (path: string): boolean => path.includes('/decisions/') && path.endsWith('.md');

test('decision records: say their status, context, decision, alternatives and consequences in at most 2 KB', async () => {
  const known = await paths();
  const records = known.filter(isRecord);
  expect(records.length).toBeGreaterThan(40);
  for (const path of records) {
    const text = await readFile(join(top, path), 'utf8');
    expect({ path, bytes: Buffer.byteLength(text) <= 2_048 }).toEqual({ path, bytes: true });
    const parts = [...text.matchAll(/^(?:# (.+)|(Accepted|Superseded by .+), \d{4}-\d\d-\d\d\.$|\*\*(\w+)\.\*\* )/gm)];
    expect({ path, parts: parts.map(([, title, , part]) => (title === undefined ? part : 'title')) }).toEqual({
      path,
      parts: ['title', undefined, 'Context', 'Decision', 'Alternatives', 'Consequences'],
    });
    expect({ path, gone: namedPaths(text).filter((name) => !isKnown(name, known)) }).toEqual({ path, gone: [] });
  }
});

test('ARCHITECTURE.md: is short, and links every folder of records', async () => {
  const page = await readFile(join(top, 'ARCHITECTURE.md'), 'utf8');
  expect(Buffer.byteLength(page)).toBeLessThanOrEqual(12 * 1024);
  const folders = [...new Set((await paths()).filter(isRecord).map((path) => path.slice(0, path.lastIndexOf('/'))))];
  expect(
    linkedPaths(page)
      .filter((path) => path.endsWith('/decisions'))
      .toSorted(),
  ).toEqual(folders.toSorted());
});

test('named paths: one that is gone is found', () => {
  const known = ['shared/nats/', 'shared/nats/bucket.ts', 'shared/destinations/braze/destination.ts'];
  const page =
    '`shared/nats` `bucket.ts` `nats/bucket.ts` `ucket.ts` `shared/destinations/<kind>/destination.ts` `shared/log/` `a b.ts`';
  expect(namedPaths(page).filter((name) => !isKnown(name, known))).toEqual(['ucket.ts', 'shared/log/']);
});
