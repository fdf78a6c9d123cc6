/** A page of the site as it is before it is built. */
export type Page = {
  /** Where it stands on the site, without an ending: `migrate/segment`. */
  readonly path: string;
  /** Its name in the navigation; without one its heading. */
  readonly label?: string;
  /** Its file in the repository, which links to it and its own links are relative to; undefined: made from the code. */
  readonly source: string | undefined;
  /** Rows of its tables are about a name each, such as a setting, and are found by it. */
  readonly hasNamedRows?: boolean;
  /** Markdown that begins with a heading. */
  readonly markdown: string;
};

/** Pages that stand together in the navigation. */
export type Section = { readonly title: string; readonly pages: readonly Page[] };

/** The heading a page begins with. */
export function titleOf({ path, markdown }: Page): string {
  const title = /^# (.+)$/m.exec(markdown)?.[1];
  if (title === undefined) throw new Error(`documentation: ${path} has no heading`);
  return title;
}

/** The first paragraph as plain text: what a search or a list of pages shows. */
export function summaryOf({ markdown }: Page): string {
  const body = markdown.replace(/^[\s\S]*?^# .+$/m, '').trim();
  const paragraph = body.split(/\n\s*\n/).find((part) => /^[A-Z`*_\p{L}]/u.test(part)) ?? '';
  return plainText(paragraph);
}

/** Markdown of a line or a paragraph without its marks. */
export function plainText(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]|<[^>]+>/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** How GitHub names a heading in an address. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}
