import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { topFolder } from '../../../shared/runtime/compiled-path.ts';

/** The entries of TypeBox that our modules import; `index` is `typebox` itself. */
export const bundledEntries = ['index', 'compile', 'error', 'value'] as const;

/**
 * Bundles TypeBox into a few files, which modules of the build find first. Opening its 700 modules one by one would be
 * more than half of the load time of each process and thread. Does nothing if the build already has the installed
 * version.
 */
export async function bundleTypebox(build: string): Promise<void> {
  const target = join(build, 'node_modules/typebox');
  const { version } = JSON.parse(await readFile(installed('package.json'), 'utf8')) as { version: string };
  const manifest = describe(version);
  if ((await readFile(join(target, 'package.json'), 'utf8').catch(() => '')) === manifest) return;
  const { rolldown } = await import('rolldown');
  const input = Object.fromEntries(
    bundledEntries.map((name) => [name, installed(name === 'index' ? 'build/index.mjs' : `build/${name}/index.mjs`)]),
  );
  const bundle = await rolldown({ input, platform: 'node', treeshake: false });
  // Renamed when complete: until then modules find the installed package.
  const unfinished = `${target}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  await bundle.write({ dir: unfinished, format: 'esm' });
  await bundle.close();
  await writeFile(join(unfinished, 'package.json'), manifest);
  await Promise.all(bundledEntries.map((name) => access(join(unfinished, `${name}.js`))));
  await rm(target, { recursive: true, force: true });
  await rename(unfinished, target);
}

function describe(version: string): string {
  const exports = Object.fromEntries(
    bundledEntries.map((name) => [name === 'index' ? '.' : `./${name}`, `./${name}.js`]),
  );
  return `${JSON.stringify({ name: 'typebox', version, type: 'module', exports }, undefined, 2)}\n`;
}

const installed = (path: string): string => fileURLToPath(new URL(`node_modules/typebox/${path}`, topFolder));
