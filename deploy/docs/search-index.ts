import MiniSearch from 'minisearch';
import { searchOptions } from './search-options.ts';
import type { FoundSection } from './search-options.ts';

/** What a reader can search: a page is cut at its headings. */
export function sectionsOf(file: string, title: string, html: string): readonly (FoundSection & { text: string })[] {
  const parts = html.split(/(?=<h[234] id=")/);
  return parts.map((part) => {
    const [, id, heading] = /^<h[234] id="([^"]+)"[^>]*>([\s\S]*?) <a class="anchor"/.exec(part) ?? [];
    return {
      id: id === undefined ? file : `${file}#${id}`,
      page: title,
      heading: heading === undefined ? '' : textOf(heading),
      text: textOf(heading === undefined ? part : part.replace(/^<h[234][\s\S]*?<\/h[234]>/, '')),
    };
  });
}

/** The index as the browser loads it. */
export function searchIndex(sections: readonly (FoundSection & { text: string })[]): string {
  const index = new MiniSearch(searchOptions);
  index.addAll(sections);
  return JSON.stringify(index);
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim();
