import { summaryOf, titleOf } from './page.ts';
import type { Section } from './page.ts';

const about =
  'Sluice takes in customer events over HTTP, finds out whose event each one is, and delivers it to every destination that may have it. A 200 means that the event is stored on disk.';

/** The index of the site for programs that read text (llmstxt.org): one line per page, with a link to its Markdown. */
export function llmsText(sections: readonly Section[]): string {
  const parts = sections.map(({ title, pages }) =>
    [
      `## ${title}`,
      '',
      ...pages.map((page) => `- [${titleOf(page)}](${page.path}.md): ${summaryOf(page).slice(0, 160)}`),
    ].join('\n'),
  );
  return [`# Sluice\n\n> ${about}`, ...parts, ''].join('\n\n');
}

/** Every page in one file. */
export function llmsFullText(sections: readonly Section[]): string {
  return sections.flatMap(({ pages }) => pages.map(({ markdown }) => markdown.trim())).join('\n\n---\n\n');
}
