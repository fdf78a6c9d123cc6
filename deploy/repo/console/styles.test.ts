import { readdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const top = fileURLToPath(new URL('../../../control-plane/console/', import.meta.url));

async function readAll(ending: string): Promise<readonly (readonly [file: string, text: string])[]> {
  const files = (await readdir(top, { recursive: true })).filter((file) => file.endsWith(ending));
  return Promise.all(files.map(async (file) => [file, await readFile(`${top}${file}`, 'utf8')] as const));
}

test('styles of the console: each selector has only one rule, so that no element gets the layout of another', async () => {
  const css = await readFile(`${top}design/design.css`, 'utf8');
  const selectors = [...css.matchAll(/^([^\s@}/][^{]*) \{/gm)].map(([, selector]) => selector);
  expect(selectors.length).toBeGreaterThan(100);
  expect(selectors.filter((selector, index) => selectors.indexOf(selector) !== index)).toEqual([]);
});

test('styles of the console: the rule of a class is in design.css or next to its page, as other pages may never be loaded', async () => {
  const foldersOf = new Map<string, Set<string>>();
  for (const [file, text] of await readAll('.css')) {
    for (const [, name = ''] of text.matchAll(/\.([a-z][\w-]*)/gi)) {
      foldersOf.set(name, (foldersOf.get(name) ?? new Set()).add(dirname(file)));
    }
  }
  const pages = await readAll('.tsx');
  expect(pages.length).toBeGreaterThan(50);
  const astray = pages.flatMap(([file, text]) =>
    [...text.matchAll(/className="([^"]+)"/g)]
      .flatMap(([, names = '']) => names.split(/\s+/))
      .filter((name) => {
        const folders = foldersOf.get(name);
        return folders !== undefined && !folders.has('design') && !folders.has(dirname(file));
      })
      .map((name) => `${file}: ${name}`),
  );
  expect(astray).toEqual([]);
});
