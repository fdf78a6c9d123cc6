import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { rolldown } from 'rolldown';
import { topFolder } from '../../shared/runtime/compiled-path.ts';
import type { ApiDocument } from './api-pages.ts';
import { llmsFullText, llmsText } from './llms-text.ts';
import { titleOf } from './page.ts';
import type { Section } from './page.ts';
import { searchIndex, sectionsOf } from './search-index.ts';

export type SiteContent = {
  /** Files of the repository to which pages link, with their paths on the site. */
  readonly shown: readonly { readonly path: string; readonly file: string }[];
  readonly apis: readonly ApiDocument[];
  readonly sections: readonly Section[];
  /** The HTML of each page by its file. */
  readonly built: ReadonlyMap<string, string>;
};

/** Writes the site's files that are not pages, and compressed copies if they are smaller. Returns the files' paths. */
export async function writeSiteFiles(target: string, content: SiteContent): Promise<readonly string[]> {
  const { shown, apis, sections, built } = content;
  const pages = sections.flatMap((section) => section.pages);
  const searched = pages.flatMap((page) => {
    const file = `${page.path}.html`;
    const main = /<main[^>]*>([\s\S]*)<footer>/.exec(built.get(file) ?? '')?.[1] ?? '';
    return sectionsOf(file, titleOf(page).replaceAll('`', ''), main);
  });
  const files = new Map<string, string | Buffer>([
    ...(await readAssets()),
    ...(await Promise.all(shown.map(async ({ path, file }) => [file, await readTop(path)] as const))),
    ...apis.map(({ name, document }) => [`openapi/${name}.json`, JSON.stringify(document)] as const),
    ...pages.map(({ path, markdown }) => [`${path}.md`, markdown] as const),
    ['search.json', searchIndex(searched)],
    ['llms.txt', llmsText(sections)],
    ['llms-full.txt', llmsFullText(sections)],
  ]);
  await Promise.all([...files].map(([file, text]) => write(join(target, file), text)));
  const texts = [...built, ...files].filter(([file]) => /\.(?:html|css|js|json|txt)$/.test(file));
  await Promise.all(texts.map(async ([file, text]) => write(join(target, `${file}.gz`), await promisify(gzip)(text))));
  return [...files.keys()];
}

async function readAssets(): Promise<readonly (readonly [string, string | Buffer])[]> {
  const bundle = await rolldown({
    input: ['docs', 'theme'].map((name) => inTop(`deploy/docs/site/${name}.ts`)),
    platform: 'browser',
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  return [
    ...output.flatMap((chunk) => (chunk.type === 'chunk' ? [[chunk.fileName, chunk.code] as const] : [])),
    ['docs.css', await readTop('deploy/docs/site/docs.css')],
    ['icon.svg', await readTop('control-plane/console/icon.svg')],
  ];
}

const inTop = (path: string): string => fileURLToPath(new URL(path, topFolder));
const readTop = (path: string): Promise<Buffer> => readFile(inTop(path));

async function write(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}
