import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeStale } from './remove-stale.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-remove-stale-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('remove stale: removes only compiled files whose source is gone', async () => {
  const files = [
    'gateway/main.ts',
    'dist/gateway/main.js',
    'dist/gateway/main.js.map',
    'gateway/a.cts',
    'dist/gateway/a.cjs',
  ];
  const stale = ['dist/gateway/old.cjs', 'dist/gateway/old.js', 'dist/gateway/old.js.map', 'dist/old/room.js'];
  const others = ['dist/.tsbuildinfo', 'dist/faults/result.json', 'dist/faults/page.html'];
  for (const file of [...files, ...stale, ...others]) {
    await mkdir(join(folder, file, '..'), { recursive: true });
    await writeFile(join(folder, file), '');
  }
  expect(await removeStale(folder, join(folder, 'dist'))).toEqual([
    'gateway/old.cjs',
    'gateway/old.js',
    'gateway/old.js.map',
    'old/room.js',
  ]);
  const left = (await readdir(folder, { recursive: true })).filter((path) => /\.\w+$/.test(path));
  expect(left.toSorted()).toEqual([...files, ...others].toSorted());
  expect(await removeStale(folder, join(folder, 'dist'))).toEqual([]);
});
