import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const top = join(import.meta.dirname, '../..');
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

test.each(['ARCHITECTURE.md', 'CONTRIBUTING.md'])('%s: every file and folder it names is there', async (page) => {
  const known = await paths();
  const named = namedPaths(await readFile(join(top, page), 'utf8'));
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !isKnown(name, known))).toEqual([]);
});

test('named paths: one that is gone is found', () => {
  const known = ['shared/nats/', 'shared/nats/bucket.ts', 'shared/destinations/braze/destination.ts'];
  const page =
    '`shared/nats` `bucket.ts` `nats/bucket.ts` `ucket.ts` `shared/destinations/<kind>/destination.ts` `shared/log/` `a b.ts`';
  expect(namedPaths(page).filter((name) => !isKnown(name, known))).toEqual(['ucket.ts', 'shared/log/']);
});
