import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const top = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

/** Paths of all files and folders; a path of a folder ends with a slash. */
async function paths(): Promise<readonly string[]> {
  const { stdout } = await run('git', ['ls-files'], { cwd: top });
  const files = stdout.split('\n').filter((path) => path !== '');
  const folders = files.flatMap((path) => [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1)));
  return [...files, ...new Set(folders)];
}

/** The repository's files and folders that a page names. `<kind>` and `*` stand for any name. */
function namedPaths(page: string): readonly string[] {
  const code = [...page.matchAll(/`([^`\s]+)`/g)].map(([, text = '']) => text);
  const ours = /^(?:gateway|pipeline|control-plane|shared|bench|deploy)\//;
  return [
    ...new Set(code.filter((text) => /^[\w<>*./-]+\.ts$/.test(text) || ours.test(text) || /^[a-z-]+\/$/.test(text))),
  ];
}

/**
 * Whether `name` is a known path or the end of a known path, because pages shorten paths within a folder that they
 * describe.
 */
function isKnown(name: string, known: readonly string[]): boolean {
  const pattern = name.replaceAll(/[.+^$()[\]{}|\\]/g, String.raw`\$&`).replaceAll(/<\w+>|\*/g, '[^/]+');
  const searched = new RegExp(`(?:^|/)${pattern}/?$`);
  return known.some((path) => searched.test(path));
}

test.each(['ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'])(
  '%s: every file and folder that the page names exists',
  async (page) => {
    const known = await paths();
    const named = namedPaths(await readFile(join(top, page), 'utf8'));
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !isKnown(name, known))).toEqual([]);
  },
);

/**
 * The folders with decision records, as ARCHITECTURE.md lists them: one line per app, such as `- gateway: commit,
 * routes`.
 */
function listedFolders(page: string): readonly string[] {
  const [, list = ''] = page.split(/^## Decisions$/m);
  return list
    .split(/\n(?=- )/)
    .slice(1)
    .flatMap((line) => {
      const [app = '', rooms = ''] = line.slice('- '.length).split(':');
      return rooms.split(',').map((room) => `${app}/${room.trim()}/decisions`);
    });
}

const isRecord = (path: string): boolean => path.includes('/decisions/') && path.endsWith('.md');

/** Maximum size of a decision record, because a longer record tells a history instead of a decision. */
const recordBytesMax = 1_200;

test('decision records: say their status, context, decision, alternatives and consequences, in few bytes', async () => {
  const known = await paths();
  const records = known.filter(isRecord);
  expect(records.length).toBeGreaterThan(40);
  for (const path of records) {
    const text = await readFile(join(top, path), 'utf8');
    expect({ path, isShort: Buffer.byteLength(text) <= recordBytesMax }).toEqual({ path, isShort: true });
    const parts = [...text.matchAll(/^(?:# (.+)|(Accepted|Superseded by .+), \d{4}-\d\d-\d\d\.$|\*\*(\w+)\.\*\* )/gm)];
    expect({ path, parts: parts.map(([, title, , part]) => (title === undefined ? part : 'title')) }).toEqual({
      path,
      parts: ['title', undefined, 'Context', 'Decision', 'Alternatives', 'Consequences'],
    });
    expect({ path, gone: namedPaths(text).filter((name) => !isKnown(name, known)) }).toEqual({ path, gone: [] });
  }
});

test('ARCHITECTURE.md: is short, and lists every folder of records', async () => {
  const page = await readFile(join(top, 'ARCHITECTURE.md'), 'utf8');
  expect(Buffer.byteLength(page)).toBeLessThanOrEqual(12 * 1024);
  const folders = [...new Set((await paths()).filter(isRecord).map((path) => path.slice(0, path.lastIndexOf('/'))))];
  expect(listedFolders(page).toSorted()).toEqual(folders.toSorted());
});

test('named paths: a path that no longer exists is found', () => {
  const known = ['shared/nats/', 'shared/nats/bucket.ts', 'shared/destinations/braze/destination.ts'];
  const page =
    '`shared/nats` `bucket.ts` `nats/bucket.ts` `ucket.ts` `shared/destinations/<kind>/destination.ts` `shared/log/` `a b.ts`';
  expect(namedPaths(page).filter((name) => !isKnown(name, known))).toEqual(['ucket.ts', 'shared/log/']);
});
