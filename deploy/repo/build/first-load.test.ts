import { readFile, readdir, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { topFolder } from '../../../shared/runtime/compiled-path.ts';

const bytesMax = 150 * 1024;
const assets = fileURLToPath(new URL('dist/console/assets/', topFolder));

/** A file and all that it imports statically, without the files that pages import when they are opened. */
async function withImports(name: string, found = new Set<string>()): Promise<ReadonlySet<string>> {
  if (found.has(name)) return found;
  found.add(name);
  const text = await readFile(join(assets, name), 'utf8');
  for (const [, imported = ''] of text.matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g)) {
    await withImports(imported, found);
  }
  return found;
}

test('first load: the overview with its chart takes at most 150 KiB, compressed by gzip', async () => {
  const page = await readFile(join(assets, '../index.html'), 'utf8');
  const linked = [...page.matchAll(/(?:src|href)="\/assets\/([^"]+\.(?:js|css))"/g)].map(([, name = '']) => name);
  expect(linked.length).toBeGreaterThan(1);
  const chart = (await readdir(assets)).filter((name) => /^use-chart-[\w-]+\.js$/.test(name));
  expect(chart).toHaveLength(1);
  const scripts = [...linked.filter((name) => name.endsWith('.js')), ...chart];
  const closures = await Promise.all(scripts.map((name) => withImports(name)));
  const files = new Set([...linked, ...closures.flatMap((names) => [...names])]);
  const sizes = await Promise.all([...files].map(async (name) => (await stat(join(assets, `${name}.gz`))).size));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  expect(bytes).toBeGreaterThan(50 * 1024);
  expect(bytes).toBeLessThanOrEqual(bytesMax);
});
