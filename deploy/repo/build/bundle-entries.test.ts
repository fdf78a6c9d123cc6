import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { topFolder } from '../../../shared/runtime/compiled-path.ts';
import { bundleEntries, bundledEntries } from './bundle-entries.ts';

const run = promisify(execFile);
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-entries-'));
  await write('package.json', '{ "type": "module" }');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}

const build = (): Promise<void> => bundleEntries(folder, join(folder, 'dist'), ['service/main']);
const entry = (): string => join(folder, 'dist/service/main.js');
const start = (): Promise<{ stdout: string }> => run(process.execPath, ['--enable-source-maps', entry()]);

test('bundled entries: a module keeps its own URL and names, runs late if imported late, and errors show its sources', async () => {
  await mkdir(join(folder, 'dist/service'), { recursive: true });
  await write(
    'service/main.ts',
    `import { where, Refused } from '../other/where.ts';
    class Late extends Refused {}
    console.log(where, Late.name, Refused.name);
    const { text }: { text: string } = await import('./late.ts');
    console.log(text);
    try {
      throw new Late('no');
    } catch (error) {
      console.log((error as Error).stack);
    }`,
  );
  await write('service/late.ts', `console.log('late runs'); class Late {} export const text = Late.name;`);
  await write(
    'other/where.ts',
    `export class Refused extends Error {} class Late {} export const where = import.meta.url + Late.name;`,
  );
  await build();
  const { stdout } = await start();
  const [first, ...others] = stdout.split('\n');
  expect(first).toBe(`${pathToFileURL(join(folder, 'dist/other/where.js')).href}Late Late Refused`);
  expect(others.slice(0, 2)).toEqual(['late runs', 'Late']);
  expect(stdout).toContain(`${join(folder, 'service/main.ts')}:7:13`);
});

test('bundled entries: an entry is bundled again once one of its sources or its file has changed, and only then', async () => {
  await mkdir(join(folder, 'dist/service'), { recursive: true });
  await write('service/main.ts', `import { text } from './text.ts'; console.log(text);`);
  await write('service/text.ts', `export const text: string = 'before';`);
  await build();
  const { mtimeMs, ino } = await stat(entry());
  await write('service/unrelated.ts', 'export {};');
  await build();
  expect(await stat(entry())).toMatchObject({ mtimeMs, ino });
  await write('service/text.ts', `export const text: string = 'after, and longer';`);
  await build();
  expect((await start()).stdout).toBe('after, and longer\n');
  // The compiler writes the entry's own file again.
  await writeFile(entry(), `console.log('compiled');`);
  await build();
  expect((await start()).stdout).toBe('after, and longer\n');
});

test.each(bundledEntries)('bundled entries: in the build, %s imports packages only', async (path) => {
  const text = await readFile(fileURLToPath(new URL(`dist/${path}.js`, topFolder)), 'utf8');
  const imported = [...text.matchAll(/^import .*? from "(.*?)";$|\bimport\("(.*?)"\)/gm)].map(
    ([, name = '', lazy = name]) => lazy,
  );
  expect(imported).toContain('nats');
  expect(imported.filter((name) => name.startsWith('.'))).toEqual([]);
});
