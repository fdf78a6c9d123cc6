import { readFile, rename, writeFile } from 'node:fs/promises';
import { pageScriptPath } from '../../shared/web-snippet/web-snippet.ts';

/** Makes the script of pages that track small, and a script rather than a module. Does nothing where it has not changed. */
export async function minifyPageScript(): Promise<void> {
  const source = pageScriptPath.replace(/\.min$/, '.js');
  const from = `${pageScriptPath}.from`;
  const text = await readFile(source, 'utf8');
  const isThere = await readFile(pageScriptPath).then(
    () => true,
    () => false,
  );
  if (isThere && (await readFile(from, 'utf8').catch(() => '')) === text) return;
  const { rolldown } = await import('rolldown');
  const bundle = await rolldown({ input: source, platform: 'browser' });
  const { output } = await bundle.generate({ format: 'iife', minify: true });
  await bundle.close();
  // Whole or not at all: a service may be reading it.
  await writeFile(`${pageScriptPath}.unfinished`, output[0].code);
  await rename(`${pageScriptPath}.unfinished`, pageScriptPath);
  await writeFile(from, text);
}
