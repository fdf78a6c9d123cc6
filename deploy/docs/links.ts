import { posix } from 'node:path';
import type { Page } from './page.ts';

export type Target =
  | { readonly kind: 'outside'; readonly href: string }
  | { readonly kind: 'page'; readonly page: Page; readonly hash: string }
  /** A file of the site that is not a page. */
  | { readonly kind: 'asset'; readonly file: string }
  /** A file of the repository that is not a page. */
  | { readonly kind: 'file'; readonly path: string };

/** Returns a function that resolves links. Links to a generated page, which has no file, are `/docs/<path>.html`. */
export function createLinks(pages: readonly Page[]): (from: Page, href: string) => Target {
  const byPath = new Map(pages.map((page) => [page.path, page]));
  const bySource = new Map(pages.flatMap((page) => (page.source === undefined ? [] : [[page.source, page] as const])));
  return (from, href) => {
    if (/^(?:https?:|mailto:)/.test(href)) return { kind: 'outside', href };
    const [path = '', hash = ''] = href.split('#', 2);
    if (path === '') return { kind: 'page', page: from, hash };
    const own = /^\/docs\/(.*?)(?:\.html)?$/.exec(path)?.[1];
    const source = posix.normalize(posix.join(posix.dirname(from.source ?? 'deploy/docs/x'), path));
    const page = own === undefined ? bySource.get(source) : byPath.get(own === '' ? 'index' : own);
    if (page !== undefined) return { kind: 'page', page, hash };
    if (own !== undefined && /\.(?:json|txt|js)$/.test(own)) return { kind: 'asset', file: own };
    if (own !== undefined) throw new Error(`documentation: ${from.path} links to ${href}, which is no page`);
    return { kind: 'file', path: source };
  };
}

/** The address of a file of the site (a page or another file), relative to a page. */
export function relativeHref(from: Page, file: string): string {
  return posix.relative(posix.dirname(from.path), file);
}

/** Broken links of built pages, each as `page: link`. `pages` has the HTML by file. */
export function findDeadLinks(pages: ReadonlyMap<string, string>, otherFiles: ReadonlySet<string>): readonly string[] {
  const ids = new Map(
    [...pages].map(([file, html]) => [file, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
  );
  return [...pages].flatMap(([file, html]) =>
    [...html.matchAll(/ (?:href|src)="([^"]*)"/g)].flatMap(([, href = '']) => {
      if (/^(?:https?:|mailto:|data:)/.test(href)) return [];
      const [path = '', hash = ''] = href.split('#', 2);
      const target = path === '' ? file : posix.normalize(posix.join(posix.dirname(file), decodeURI(path)));
      const known = ids.get(target);
      if (known === undefined) return otherFiles.has(target) ? [] : [`${file}: ${href}`];
      return hash === '' || known.has(decodeURIComponent(hash)) ? [] : [`${file}: ${href}`];
    }),
  );
}
