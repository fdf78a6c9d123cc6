import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { runbookPlugin } from './runbook-sections.ts';

const inputsFile = '.inputs';
const compressed = /\.(js|css|svg)$/;

/**
 * Bundles the console's pages into `dist/console`: `index.html`, and hashed files with a compressed copy of each.
 * Does nothing if sources and installed packages are unchanged. Returns whether it has built.
 */
export async function buildConsole(top: string, build: string): Promise<boolean> {
  const sources = join(top, 'control-plane/console');
  const target = join(build, 'console');
  const runbook = join(top, 'deploy/runbook');
  const docs = join(top, 'deploy/docs');
  const others = [
    'package-lock.json',
    'deploy/runbook/alerts.md',
    'deploy/runbook/symptoms.md',
    'deploy/repo/build/runbook-sections.ts',
    'deploy/docs/search-options.ts',
  ];
  const inputs = await digest(
    sources,
    others.map((path) => join(top, path)),
  );
  if ((await readFile(join(target, inputsFile), 'utf8').catch(() => '')) === inputs) return false;
  const { build: bundle } = await import('vite');
  // Atomic: a control plane that starts in the meantime serves the previous build.
  const unfinished = `${target}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await bundle({
    root: sources,
    configFile: false,
    logLevel: 'warn',
    // The console shows the runbook's steps for alerts, and searches the documentation by its built index.
    resolve: { alias: { runbook, docs } },
    plugins: [runbookPlugin],
    build: {
      outDir: unfinished,
      emptyOutDir: true,
      // Assets stay separate files: the page's policy allows no data URLs, and browsers cache files.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      license: { fileName: 'licenses.md' },
      // Packages have directives for server rendering, which is not used here.
      rolldownOptions: { checks: { moduleLevelDirective: false, pluginTimings: false } },
      reportCompressedSize: false,
    },
  });
  await compress(join(unfinished, 'assets'));
  await writeFile(join(unfinished, inputsFile), inputs);
  await rm(target, { recursive: true, force: true });
  await mkdir(build, { recursive: true });
  await rename(unfinished, target);
  return true;
}

async function digest(sources: string, others: readonly string[]): Promise<string> {
  const entries = await readdir(sources, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  const hash = createHash('sha256');
  for (const path of [...paths, ...others]) hash.update(path.slice(sources.length)).update(await readFile(path));
  return hash.digest('hex');
}

async function compress(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => compressed.test(name));
  await Promise.all(
    names.map(async (name) => {
      const bytes = await readFile(join(folder, name));
      await writeFile(join(folder, `${name}.gz`), await promisify(gzip)(bytes, { level: 9 }));
      await writeFile(join(folder, `${name}.br`), await promisify(brotliCompress)(bytes));
    }),
  );
}
