import { Eleventy } from '@11ty/eleventy';
import { layOut } from './layout.ts';
import { createLinks, findDeadLinks, relativeHref } from './links.ts';
import { amendMarkdown } from './markdown.ts';
import type { Page } from './page.ts';
import { apiDocuments, readSections } from './sections.ts';
import { writeSiteFiles } from './site-files.ts';

const inputFolder = 'deploy/docs/site';
/** Whether a linked file of the repository is copied to the site. */
const isShown = (path: string): boolean =>
  /^deploy\/(?!docs\/).+\.(?:conf|ya?ml|service|tf)$|^deploy\/console\/.+\.png$|^shared\/experiments\/.+\.json$|^deploy\/cli\/compare-kinds\/.+\.jsonl$/.test(
    path,
  );

/** Builds the site into a folder. Throws for a broken link. */
export async function buildSite(target: string): Promise<{ readonly pages: number }> {
  const apis = apiDocuments();
  const sections = await readSections(apis);
  const pages = sections.flatMap((section) => section.pages);
  const byInput = new Map(pages.map((page) => [`./${inputFolder}/${page.path}.md`, page]));
  const pageOf = (inputPath: string): Page => {
    const page = byInput.get(inputPath);
    if (page === undefined) throw new Error(`documentation: ${inputPath} is no page`);
    return page;
  };
  const follow = createLinks(pages);
  const shownFiles = new Set<string>();
  const built = new Map<string, string>();
  const eleventy = new Eleventy(inputFolder, target, {
    quietMode: true,
    configPath: undefined,
    config(config) {
      config.setUseGitIgnore(false);
      config.setTemplateFormats(['md']);
      config.amendLibrary('md', (library) =>
        amendMarkdown(library, {
          resolveHref(inputPath, href) {
            const from = pageOf(inputPath);
            const found = follow(from, href);
            if (found.kind === 'outside') return found.href;
            if (found.kind === 'page') return addressOf(from, found.page, found.hash);
            if (found.kind === 'asset') return relativeHref(from, found.file);
            if (!isShown(found.path)) return undefined;
            shownFiles.add(found.path);
            return relativeHref(from, shownAs(found.path));
          },
        }),
      );
      config.addTransform('page', function (content) {
        const page = pageOf(this.page.inputPath);
        const html = layOut(page, page.hasNamedRows === true ? nameRows(content) : content, sections);
        built.set(`${page.path}.html`, html);
        return html;
      });
      for (const page of pages) {
        config.addTemplate(`${page.path}.md`, page.markdown, { permalink: `${page.path}.html` });
      }
      return { markdownTemplateEngine: false };
    },
  });
  await eleventy.write();
  const others = await writeSiteFiles(target, {
    shown: [...shownFiles].map((path) => ({ path, file: shownAs(path) })),
    apis,
    sections,
    built,
  });
  const dead = findDeadLinks(built, new Set(others));
  if (dead.length > 0) throw new Error(`documentation: links that lead nowhere:\n  ${dead.join('\n  ')}`);
  return { pages: built.size };
}

/** Gives an id to table rows that start with a name, so that links and searches can lead to them. */
function nameRows(html: string): string {
  const used = new Set<string>();
  return html.replaceAll(/<tr>\n<td><code>(\w+)<\/code>/g, (row, name: string) => {
    if (used.has(name)) return row;
    used.add(name);
    return row.replace('<tr>', `<tr id="${name}">`);
  });
}

const addressOf = (from: Page, to: Page, hash: string): string =>
  `${from === to ? '' : relativeHref(from, `${to.path}.html`)}${hash === '' ? '' : `#${hash}`}`;

/** Path of a copied file on the site: `.txt` is appended to all but pictures, so that web servers show them as text. */
const shownAs = (path: string): string => (path.endsWith('.png') ? `files/${path}` : `files/${path}.txt`);
