/** A page of the site before it is built. */
export type Page = {
  /** Path of the page on the site, without an extension: `migrate/segment`. */
  readonly path: string;
  /** Name of the page in the navigation. Default: its heading. */
  readonly label?: string;
  /** Path of the page's file in the repository, to which links are relative; undefined if generated from code. */
  readonly source: string | undefined;
  /** Whether each table row describes one name, such as a setting, and gets an id for links. */
  readonly hasNamedRows?: boolean;
  /** Markdown that starts with a heading. */
  readonly markdown: string;
};

/** A group of pages in the navigation. */
export type Section = { readonly title: string; readonly pages: readonly Page[] };

/** The heading with which a page begins. Throws if there is none. */
export function titleOf({ path, markdown }: Page): string {
  const title = /^# (.+)$/m.exec(markdown)?.[1];
  if (title === undefined) throw new Error(`documentation: ${path} has no heading`);
  return title;
}

/** The first paragraph as plain text, for searches and lists of pages. */
export function summaryOf({ markdown }: Page): string {
  const body = markdown.replace(/^[\s\S]*?^# .+$/m, '').trim();
  const paragraph = body.split(/\n\s*\n/).find((part) => /^[A-Z`*_\p{L}]/u.test(part)) ?? '';
  return plainText(paragraph);
}

/** The text of a Markdown line or paragraph, without marks. */
export function plainText(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]|<[^>]+>/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** The anchor that GitHub gives to a heading. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}
