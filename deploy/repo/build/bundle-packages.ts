import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { topFolder } from '../../../shared/runtime/compiled-path.ts';

type BundledPackage = {
  readonly name: string;
  /** The entries that our modules import, each with its file in the package; `.` is the package itself. */
  readonly entries: Readonly<Record<string, string>>;
};

/** Packages of many modules, which processes and threads load at their start. */
export const bundledPackages: readonly BundledPackage[] = [
  {
    name: 'typebox',
    entries: {
      '.': 'build/index.mjs',
      './compile': 'build/compile/index.mjs',
      './error': 'build/error/index.mjs',
      './value': 'build/value/index.mjs',
    },
  },
  { name: '@iabgpp/cmpapi', entries: { '.': 'lib/mjs/index.js' } },
  { name: 'libphonenumber-js', entries: { './min': 'min/index.js' } },
];

/**
 * Bundles packages into a few files each, which modules of the build find first. Opening their 1,000 modules one by one
 * would be more than half of the load time of a process or thread. Leaves a bundle of the installed version alone.
 */
export async function bundlePackages(build: string): Promise<void> {
  for (const bundled of bundledPackages) await bundlePackage(build, bundled);
}

async function bundlePackage(build: string, { name, entries }: BundledPackage): Promise<void> {
  const installed = (path: string): string => fileURLToPath(new URL(`node_modules/${name}/${path}`, topFolder));
  const target = join(build, 'node_modules', name);
  const { version } = JSON.parse(await readFile(installed('package.json'), 'utf8')) as { version: string };
  const manifest = describe(name, version, Object.keys(entries));
  if ((await readFile(join(target, 'package.json'), 'utf8').catch(() => '')) === manifest) return;
  const { rolldown } = await import('rolldown');
  const input = Object.fromEntries(Object.entries(entries).map(([entry, path]) => [fileOf(entry), installed(path)]));
  const bundle = await rolldown({ input, platform: 'node', treeshake: false });
  // Renamed when complete: until then modules find the installed package.
  const unfinished = `${target}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  await bundle.write({ dir: unfinished, format: 'esm' });
  await bundle.close();
  await writeFile(join(unfinished, 'package.json'), manifest);
  await Promise.all(Object.keys(input).map((file) => access(join(unfinished, `${file}.js`))));
  await rm(target, { recursive: true, force: true });
  await rename(unfinished, target);
}

function describe(name: string, version: string, entries: readonly string[]): string {
  const exports = Object.fromEntries(entries.map((entry) => [entry, `./${fileOf(entry)}.js`]));
  return `${JSON.stringify({ name, version, type: 'module', exports }, undefined, 2)}\n`;
}

const fileOf = (entry: string): string => (entry === '.' ? 'index' : entry.slice(2));
