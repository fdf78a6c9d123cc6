import { createHash } from 'node:crypto';
import { readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { topFolder } from '../../shared/runtime/compiled-path.ts';

// Builds the documentation into dist/docs: plain files for the control plane or any other web server. Does nothing if
// its inputs are unchanged.
const top = fileURLToPath(topFolder);
process.chdir(top);
const target = join(top, 'dist/docs');
const inputs = await digestInputs();
if ((await readFile(join(target, '.inputs'), 'utf8').catch(() => '')) !== inputs) {
  const { buildSite } = await import('./build-site.ts');
  // Atomic: a control plane may be serving the previous build.
  const unfinished = `${target}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  const { pages } = await buildSite('dist/docs.unfinished');
  await writeFile(join(unfinished, '.inputs'), inputs);
  await rm(target, { recursive: true, force: true });
  await rename(unfinished, target);
  process.stdout.write(`documentation: ${pages} pages in dist/docs\n`);
}

/** Inputs of the pages: Markdown, and code that facts are generated from. */
async function digestInputs(): Promise<string> {
  const folders = ['shared', 'gateway', 'pipeline', 'control-plane', 'deploy'];
  const listed = await Promise.all(
    folders.map(async (folder) => {
      const entries = await readdir(join(top, folder), { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    }),
  );
  const others = ['CHANGELOG.md', 'SECURITY.md', 'package-lock.json'].map((name) => join(top, name));
  const paths = [...listed.flat(), ...others].filter(
    (path) => /\.(?:md|ts|css|conf|ya?ml|service|json)$/.test(path) && !path.includes('.test.'),
  );
  const hash = createHash('sha256');
  for (const path of paths.toSorted()) hash.update(path.slice(top.length)).update(await readFile(path));
  return hash.digest('hex');
}
