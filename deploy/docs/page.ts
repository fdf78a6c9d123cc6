/** A page of the site before it is built. */
export type Page = {
  /** Its path on the site, without an extension: `migrate/segment`. */
  readonly path: string;
  /** Its name in the navigation; defaults to its heading. */
  readonly label?: string;
  /** Its file in the repository, to which links are relative; undefined: generated from code. */
  readonly source: string | undefined;
  /** Rows of its tables describe one name each, such as a setting, and can be linked. */
  readonly hasNamedRows?: boolean;
  /** Markdown that starts with a heading. */
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

/** The first paragraph as plain text, for searches and lists of pages. */
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
