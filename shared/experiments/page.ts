import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { Work } from '../routing/values/work.ts';

/** The page that the visitor sees, as a client describes it: its URL and its query. */
export const pageContext = Type.Object({
  url: Type.Optional(Type.Union([Type.String({ maxLength: 8_192 }), Type.Null()])),
  search: Type.Optional(Type.Union([Type.String({ maxLength: 8_192 }), Type.Null()])),
});

export type PageContext = Static<typeof pageContext>;

/** The parts of a page's address that patterns match; the address may be a path alone, without scheme and host. */
export type PageAddress = {
  /** Such as `https`. */
  readonly scheme: string;
  /** With the port unless it is the scheme's default. */
  readonly host: string;
  /** Percent-decoded by `decodePath`. */
  readonly path: string;
  /** With its question mark; empty without a query. */
  readonly query: string;
};

/** The page for the eligibility check; undefined members are not checked. */
export type Page = {
  readonly address: PageAddress | undefined;
  /** Values of each query parameter, in order. */
  readonly parameters: ReadonlyMap<string, readonly string[]> | undefined;
  /** Counts the cost of checks; undefined if the cost is not limited. */
  readonly work?: Work | undefined;
};

/** Stands for the page if a client describes no page. Every experiment may run on it. */
export const anyPage: Page = { address: undefined, parameters: undefined };

/** Units of work to parse one character of an address, which costs as much as several comparisons. */
const unitsOfCharacterRead = 4;

/**
 * Reads a context once for any number of experiments. The context's search, unless empty, overrides the query of its
 * url. Throws OverBudgetError if reading a context of this length would exceed `work`.
 */
export function readPage(context: PageContext | undefined, work?: Work): Page {
  const url = context?.url ?? '';
  const search = context?.search ?? undefined;
  if (url === '' && search === undefined) return { ...anyPage, work };
  work?.spend(unitsOfCharacterRead * (url.length + (search?.length ?? 0)));
  const address = url === '' ? undefined : readAddress(url);
  // A client may send an empty search together with a url that has a query.
  const query = search === undefined || search === '' ? (address?.query ?? '') : search;
  return { address, parameters: readParameters(query), work };
}

/** Percent-decodes all but separators, such as `%2F`; returns a text with an invalid escape as it is. */
export function decodePath(text: string): string {
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
}

function readAddress(url: string): PageAddress {
  if (URL.canParse(url)) return addressOf(new URL(url));
  // `/path` has neither scheme nor host, `//host/path` has no scheme.
  if (url.startsWith('/') && URL.canParse(url, 'http://host')) {
    const address = addressOf(new URL(url, 'http://host'));
    return { ...address, scheme: '', host: url.startsWith('//') ? address.host : '' };
  }
  // Text that is not an address has no part that a pattern could match.
  return { scheme: '', host: '', path: '', query: '' };
}

function addressOf({ protocol, host, pathname, search }: URL): PageAddress {
  return { scheme: protocol.slice(0, -1), host, path: decodePath(pathname), query: search };
}

function readParameters(query: string): Map<string, string[]> {
  const parameters = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query)) {
    const values = parameters.get(name);
    if (values === undefined) parameters.set(name, [value]);
    else values.push(value);
  }
  return parameters;
}
