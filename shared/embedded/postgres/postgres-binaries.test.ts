import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { copyPostgresPackage, hasLibraryLinks, parseLibraryLinks } from './postgres-binaries.ts';

let folder: string;
let native: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-package-'));
  native = join(folder, 'native');
  await mkdir(join(native, 'lib'), { recursive: true });
  await mkdir(join(native, 'bin'));
  await writeFile(join(native, 'lib', 'libx.so.1.2'), 'library', { mode: 0o600 });
  await writeFile(join(native, 'bin', 'postgres'), 'program', { mode: 0o700 });
  await writeFile(
    join(native, 'pg-symlinks.json'),
    JSON.stringify([{ source: 'native/lib/libx.so.1.2', target: 'native/lib/libx.so.1' }]),
  );
  await chmod(join(native, 'lib'), 0o700);
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test('postgres package: a copy has the links the package lacks and is open to every account', async () => {
  const copy = join(folder, 'cache', 'copy');
  expect(await hasLibraryLinks(native)).toBe(false);
  expect(await copyPostgresPackage(native, copy)).toBe(true);
  expect(await hasLibraryLinks(copy)).toBe(true);
  expect(await readFile(join(copy, 'lib', 'libx.so.1'), 'utf8')).toBe('library');
  const modes = await Promise.all(['lib', 'lib/libx.so.1.2', 'bin/postgres'].map((name) => stat(join(copy, name))));
  expect(modes.map(({ mode }) => mode & 0o777)).toEqual([0o755, 0o644, 0o755]);
});

test('postgres package: if many processes copy it at once, one makes the copy and no temporary folder is left', async () => {
  const copy = join(folder, 'cache', 'copy');
  const made = await Promise.all(Array.from({ length: 4 }, () => copyPostgresPackage(native, copy)));
  expect(made.filter(Boolean)).toHaveLength(1);
  expect(await readdir(join(folder, 'cache'))).toEqual(['copy']);
});

test('postgres package: an invalid list of links gives no links', () => {
  expect(parseLibraryLinks('{}')).toEqual([]);
  expect(parseLibraryLinks('[{"source": 1}]')).toEqual([]);
});
