import MiniSearch from 'minisearch';
import { searchOptions } from './search-options.ts';
import type { FoundSection } from './search-options.ts';

/** Splits a page at its headings and at table rows with an id, for the search index. */
export function sectionsOf(file: string, title: string, html: string): readonly (FoundSection & { text: string })[] {
  return html.split(/(?=<h[234] id="|<tr id=")/).map((part) => {
    const [, id, heading] = /^<h[234] id="([^"]+)"[^>]*>([\s\S]*?) <a class="anchor"/.exec(part) ?? [];
    const [, row] = /^<tr id="([^"]+)">/.exec(part) ?? [];
    const anchor = id ?? row;
    return {
      id: anchor === undefined ? file : `${file}#${anchor}`,
      page: title,
      heading: heading === undefined ? (row ?? '') : textOf(heading),
      text: textOf(part.replace(/^<h[234][\s\S]*?<\/h[234]>/, '')),
    };
  });
}

/** The search index as JSON for the browser. */
export function searchIndex(sections: readonly (FoundSection & { text: string })[]): string {
  const index = new MiniSearch(searchOptions);
  index.addAll(sections);
  return JSON.stringify(index);
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

const textOf = (html: string): string =>
  html
    // Examples are left out, because they are long and similar.
    .replaceAll(/<details>[\s\S]*?<\/details>/g, ' ')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim();
