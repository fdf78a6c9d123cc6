import { domainToASCII } from 'node:url';
import { RE2JS } from 're2js';
import { PlanError } from '../routing/values/plan-error.ts';
import type { Work } from '../routing/values/work.ts';
import { createSearchAutomaton } from '../routing/values/search-automaton.ts';
import { decodePath } from './page.ts';
import type { PageAddress } from './page.ts';

/** Returns whether a page matches the pattern. Throws OverBudgetError if matching would exceed `work`. */
export type UrlPattern = (address: PageAddress, work?: Work) => boolean;

/**
 * Compiles a URL pattern. `*` matches any characters within a segment, `**` any characters; both may match nothing. The
 * form of a pattern decides which parts of an address it is compared with:
 *
 * - `/pricing/*` is a path, on any host;
 * - `example.com/pricing/*` is a host and a path, with any scheme;
 * - `https://example.com/pricing/*` is a full address.
 *
 * The query is compared only if the pattern contains a `?`; the fragment never is. A trailing slash in a path makes
 * no difference. Hosts are case-insensitive, paths are case-sensitive. Matching takes time linear in the address,
 * whatever the pattern. Throws PlanError naming the field for a pattern that could match no page.
 */
export function compileUrlPattern(pattern: string, field: string): UrlPattern {
  if (pattern === '' || pattern.length > patternCharsMax) {
    throw new PlanError(field, `must have 1 to ${String(patternCharsMax)} characters`);
  }
  if (/[\s#]/.test(pattern)) throw new PlanError(field, 'must hold no space and no #: fragments are not compared');
  const scope = scopeOf(pattern);
  const withQuery = pattern.includes('?');
  const expression = RE2JS.compile(`^(?s:${translate(normalize(pattern, scope, withQuery))})$`);
  const automaton = createSearchAutomaton(expression);
  if (automaton === undefined) throw new PlanError(field, 'has too many stars');
  const matches = (subject: string, work: Work | undefined): boolean => {
    work?.spend(1 + subject.length);
    return automaton(subject, subject.length);
  };
  return (address, work) => {
    const subject = subjectOf(address, scope);
    const query = withQuery ? decodePath(address.query) : '';
    return matches(subject + query, work) || (subject.endsWith('/') && matches(subject.slice(0, -1) + query, work));
  };
}

/** Maximum length of a pattern, in characters; limits the cost of compiling it. */
export const patternCharsMax = 500;

/** The parts of an address that a pattern contains: the path, host and path, or scheme, host and path. */
type Scope = 'path' | 'host' | 'url';

function scopeOf(pattern: string): Scope {
  if (pattern.startsWith('/')) return 'path';
  // An address may also be within the query.
  return /^[^/?]*:\/\//.test(pattern) ? 'url' : 'host';
}

function subjectOf({ scheme, host, path }: PageAddress, scope: Scope): string {
  switch (scope) {
    case 'path':
      return path;
    case 'host':
      return host + path;
    case 'url':
      return `${scheme}://${host}${path}`;
  }
}

// Normalizes a pattern as `readPage` normalizes the parts of an address (PageAddress).
function normalize(pattern: string, scope: Scope, withQuery: boolean): string {
  const hostStart = scope === 'url' ? pattern.indexOf('://') + 3 : 0;
  const hostEnd = scope === 'path' ? 0 : endOfHost(pattern, hostStart);
  const scheme = pattern.slice(0, hostStart).toLowerCase();
  const host = pattern.slice(hostStart, hostEnd).split('.').map(normalizeLabel).join('.');
  const pathEnd = withQuery ? pattern.indexOf('?') : pattern.length;
  const path = decodePath(pattern.slice(hostEnd, Math.max(hostEnd, pathEnd)));
  const isBare = withQuery ? path === '/' : pattern === '/';
  const trimmed = path.endsWith('/') && !isBare ? path.slice(0, -1) : path;
  if (withQuery) return scheme + host + (trimmed === '' ? '/' : trimmed) + decodePath(pattern.slice(pathEnd));
  return scheme + host + trimmed;
}

function endOfHost(pattern: string, from: number): number {
  const end = pattern.slice(from).search(/[/?]/);
  return end === -1 ? pattern.length : from + end;
}

// An address has the ASCII form of an international host name. A label with a star has no such form, so it stays
// unchanged.
function normalizeLabel(label: string): string {
  const ascii = /\P{ASCII}/u.test(label) ? domainToASCII(label) : label;
  return (ascii === '' ? label : ascii).toLowerCase();
}

function translate(pattern: string): string {
  return pattern
    .split(/(\*+)/)
    .map((part, index) => (index % 2 === 0 ? RE2JS.quote(part) : part === '*' ? '[^/]*' : '.*'))
    .join('');
}
