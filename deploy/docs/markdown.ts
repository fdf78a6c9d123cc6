import { createRequire } from 'node:module';
import type { MarkdownLibrary, MarkdownToken } from '@11ty/eleventy';
import { slugOf } from './page.ts';

type Highlighter = {
  getLanguage(name: string): unknown;
  highlight(code: string, options: { language: string }): { readonly value: string };
};
// Loaded without its declarations, which would add a browser's globals to the whole project.
const hljs = createRequire(import.meta.url)('highlight.js/lib/common') as Highlighter;
const languages: Readonly<Record<string, string>> = {
  sh: 'bash',
  js: 'javascript',
  ts: 'typescript',
  html: 'xml',
  conf: 'ini',
};

export type MarkdownHooks = {
  /**
   * The address to which a page's link leads; undefined if the site does not have the target: then only the link's text
   * stays.
   */
  resolveHref(inputPath: string, href: string): string | undefined;
};

/** Configures the Markdown library: highlighted code, headings with ids, resolved links, wide tables that scroll. */
export function amendMarkdown(library: MarkdownLibrary, { resolveHref }: MarkdownHooks): void {
  library.set({ html: true, highlight });
  library.core.ruler.push('site', ({ tokens, env }) => {
    const used = new Map<string, number>();
    tokens.forEach((token, at) => {
      if (token.type === 'heading_open') nameHeading(token, tokens[at + 1], used);
      for (const child of token.children ?? [])
        mendLink(child, token.children ?? [], (href) => resolveHref(env.page.inputPath, href));
    });
  });
  const { rules } = library.renderer;
  rules['table_open'] = () => '<div class="scroll" tabindex="0"><table>\n';
  rules['table_close'] = () => '</table></div>\n';
  rules['heading_close'] = (tokens, index, options, _env, self) => {
    const id = openingOf(tokens, index)?.attrGet('id');
    const anchor =
      id === null || id === undefined ? '' : ` <a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`;
    return `${anchor}${self.renderToken(tokens, index, options)}`;
  };
}

function highlight(code: string, language: string): string {
  const known = languages[language] ?? language;
  return hljs.getLanguage(known) === undefined ? '' : hljs.highlight(code, { language: known }).value;
}

function nameHeading(heading: MarkdownToken, content: MarkdownToken | undefined, used: Map<string, number>): void {
  if (heading.tag === 'h1') return;
  const slug = slugOf((content?.children ?? []).map((child) => child.content).join(''));
  const before = used.get(slug) ?? 0;
  used.set(slug, before + 1);
  heading.attrSet('id', before === 0 ? slug : `${slug}-${before}`);
}

function mendLink(
  token: MarkdownToken,
  among: readonly MarkdownToken[],
  resolve: (href: string) => string | undefined,
): void {
  const name = token.type === 'image' ? 'src' : 'href';
  const href = token.type === 'link_open' || token.type === 'image' ? token.attrGet(name) : null;
  if (href === null) return;
  const resolved = resolve(href);
  if (resolved !== undefined) {
    token.attrSet(name, resolved);
    return;
  }
  // Hides the tags of a link to a file that is not on the site, so that only its text stays.
  const close =
    among.indexOf(token) + 1 + among.slice(among.indexOf(token) + 1).findIndex(({ type }) => type === 'link_close');
  for (const each of [token, among[close]]) if (each !== undefined) each.hidden = true;
}

const openingOf = (tokens: readonly MarkdownToken[], closing: number): MarkdownToken | undefined =>
  tokens.slice(0, closing).findLast(({ type }) => type === 'heading_open');
