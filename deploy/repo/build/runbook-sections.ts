import MarkdownIt from 'markdown-it';
import type { Plugin } from 'vite';

/** A section of a page of the runbook, as the console shows it. */
export type RunbookSection = {
  /** Last part of the section's address, in the console and on the site. */
  readonly slug: string;
  readonly title: string;
  /** The first sentence, without Markdown marks. */
  readonly lead: string;
  readonly html: string;
};

const markdown = new MarkdownIt({ html: false });

/** Pages of the runbook as modules of the console, rendered at build time. */
export const runbookPlugin: Plugin = {
  name: 'runbook',
  transform: {
    filter: { id: /\/deploy\/runbook\/[a-z-]+\.md$/ },
    handler: (text) => ({ code: `export default ${JSON.stringify(runbookSections(text))};`, map: null }),
  },
};

/** A page's sections, one per `##` heading. Links lead to the console's own pages or else to the documentation. */
export function runbookSections(text: string): readonly RunbookSection[] {
  const [, ...sections] = text.split(/^## /m);
  return sections.map((section) => {
    const [title = '', ...lines] = section.split('\n');
    const body = lines.join('\n').trim();
    const tokens = markdown.parse(body, {});
    for (const token of tokens.flatMap((one) => one.children ?? [])) {
      if (token.type === 'link_open') token.attrSet('href', addressOf(token.attrGet('href') ?? ''));
    }
    const html = markdown.renderer
      .render(tokens, markdown.options, {})
      // Wide tables scroll by themselves and are reachable by keyboard.
      .replaceAll('<table>', '<div class="scroll" tabindex="0"><table>')
      .replaceAll('</table>', '</table></div>')
      .replaceAll('<pre>', '<pre tabindex="0">');
    const lead = markdown
      .parse(body, {})
      .find(({ type, content }) => type === 'inline' && !content.startsWith('Severity: '))
      ?.children?.map(({ type, content }) => (type === 'softbreak' ? ' ' : content))
      .join('');
    return { slug: slugOf(title), title, lead: firstSentence((lead ?? '').replace(/^Meaning\. /, '')), html };
  });
}

const firstSentence = (text: string): string => /^.*?[.:](?= |$)/.exec(text)?.[0] ?? text;

const slugOf = (title: string): string => title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

const inConsole = new Set(['', 'alerts.md', 'symptoms.md']);

function addressOf(href: string): string {
  if (/^[a-z]+:|^\/docs\//.test(href)) return href;
  const [path = '', hash] = href.split('#', 2);
  if (inConsole.has(path)) return `/system/runbook${hash === undefined ? '' : `/${hash}`}`;
  const page = sitePages[path] ?? (/^[a-z-]+\.md$/.test(path) ? `operate/${path.replace(/\.md$/, '')}` : undefined);
  if (page === undefined) throw new Error(`runbook: ${href} leads to no page of the documentation`);
  return `/docs/${page}.html${hash === undefined ? '' : `#${hash}`}`;
}

/** Pages with another path on the site than in the repository: path on the site, by path in the repository. */
const sitePages: Readonly<Record<string, string>> = {
  'README.md': 'operate',
  'known-limits.md': 'known-limits',
  '../docs/pages/tune.md': 'tune',
};
