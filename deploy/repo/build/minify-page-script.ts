import { dirname, join } from 'node:path';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { pageScriptPath, tagScriptPath } from '../../../shared/web-snippet/web-snippet.ts';

/** Minifies the scripts for pages, and turns them from modules into plain scripts. Skips unchanged ones. */
export async function minifyPageScripts(): Promise<void> {
  await minify(pageScriptPath, []);
  await minify(tagScriptPath, ['tags/page-logic.js']);
}

/** `imported` are the files that are bundled into the script. */
async function minify(path: string, imported: readonly string[]): Promise<void> {
  const source = path.replace(/\.min$/, '.js');
  const from = `${path}.from`;
  const texts = [source, ...imported.map((file) => join(dirname(source), file))].map((file) => readFile(file, 'utf8'));
  const text = (await Promise.all(texts)).join('');
  const isThere = await readFile(path).then(
    () => true,
    () => false,
  );
  if (isThere && (await readFile(from, 'utf8').catch(() => '')) === text) return;
  const { rolldown } = await import('rolldown');
  const bundle = await rolldown({ input: source, platform: 'browser' });
  const { output } = await bundle.generate({ format: 'iife', minify: true });
  await bundle.close();
  // Renamed when complete, because a service may be reading the file.
  await writeFile(`${path}.unfinished`, output[0].code);
  await rename(`${path}.unfinished`, path);
  await writeFile(from, text);
}
