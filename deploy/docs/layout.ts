import { relativeHref } from './links.ts';
import { summaryOf, titleOf } from './page.ts';
import type { Page, Section } from './page.ts';

/** The HTML of a page: navigation, rendered Markdown, and a list of its sections. It loads nothing from other sites. */
export function layOut(page: Page, content: string, sections: readonly Section[]): string {
  const to = (file: string): string => relativeHref(page, file);
  const title = titleOf(page);
  const all = sections.flatMap(({ pages }) => pages);
  const at = all.indexOf(page);
  const heading = page.path === 'index' ? 'Sluice documentation' : `${plain(title)} · Sluice`;
  return `<!doctype html>
<html lang="en" data-root="${to('.') || '.'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${heading}</title>
<meta name="description" content="${escape(summaryOf(page).slice(0, 200))}">
<link rel="icon" href="${to('icon.svg')}">
<link rel="stylesheet" href="${to('docs.css')}">
<script src="${to('theme.js')}"></script>
<script type="module" src="${to('docs.js')}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="top">
<button type="button" class="menu" aria-expanded="false" aria-controls="navigation">Menu</button>
<a class="brand" href="${to('index.html')}"><img src="${to('icon.svg')}" alt="" width="24" height="24">Sluice <span>docs</span></a>
<button type="button" class="search-button" aria-haspopup="dialog">Search<kbd>/</kbd></button>
<button type="button" class="theme" aria-label="Switch between light and dark">◐</button>
</header>
<div class="frame">
<nav id="navigation" aria-label="Pages">${sections.map((section) => navSection(page, section)).join('')}</nav>
<main id="content"${page.path.startsWith('api/') ? ' class="wide"' : ''}>
${content.replaceAll('<pre>', '<pre tabindex="0">')}
<footer>${neighbour('Previous', page, all[at - 1])}${neighbour('Next', page, all[at + 1])}</footer>
</main>
${outline(content)}
</div>
<dialog class="search" aria-label="Search"><form method="dialog"><input type="search" placeholder="Search the documentation" aria-label="Search" autocomplete="off"><button>Close</button></form><ol></ol></dialog>
</body>
</html>
`;
}

function navSection(current: Page, { title, pages }: Section): string {
  const hasCurrent = pages.includes(current);
  const items = pages.map((page) => {
    const mark = page === current ? ' aria-current="page"' : '';
    return `<li><a href="${relativeHref(current, `${page.path}.html`)}"${mark}>${plain(page.label ?? titleOf(page))}</a></li>`;
  });
  const list = `<ul>${items.join('')}</ul>`;
  // A long list is collapsed unless the current page is in it.
  if (pages.length <= 12) return `<h2>${title}</h2>${list}`;
  return `<details${hasCurrent ? ' open' : ''}><summary>${title}</summary>${list}</details>`;
}

function outline(content: string): string {
  const headings = [...content.matchAll(/<h([23]) id="([^"]+)"[^>]*>([\s\S]*?) <a class="anchor"/g)];
  const tops = headings.filter(([, level]) => level === '2');
  const shown = headings.length > 40 ? tops : headings;
  if (shown.length < 2) return '<div class="outline"></div>';
  const items = shown.map(
    ([, level, id, html = '']) =>
      `<li class="level-${level}"><a href="#${id}">${html.replaceAll(/<\/?a\b[^>]*>/g, '')}</a></li>`,
  );
  return `<aside class="outline" aria-label="On this page"><h2>On this page</h2><ul>${items.join('')}</ul></aside>`;
}

function neighbour(word: string, from: Page, page: Page | undefined): string {
  if (page === undefined) return '<span></span>';
  return `<a href="${relativeHref(from, `${page.path}.html`)}"><small>${word}</small>${plain(page.label ?? titleOf(page))}</a>`;
}

export const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const plain = (markdown: string): string => escape(markdown.replaceAll(/[`*]/g, ''));
