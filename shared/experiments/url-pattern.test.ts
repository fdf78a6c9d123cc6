import { array, assert, constantFrom, property } from 'fast-check';
import { expect, test } from 'vitest';
import { PlanError, problemsOf } from '../routing/values/plan-error.ts';
import { readPage } from './page.ts';
import { compileUrlPattern } from './url-pattern.ts';
import { anyText } from '../testing/any-text.ts';

const matches = (pattern: string, url: string): boolean => {
  const { address } = readPage({ url });
  if (address === undefined) throw new Error('the test needs a url');
  return compileUrlPattern(pattern, 'field')(address);
};

test.each([
  // One star stays within a segment; two stars also match across segments.
  ['https://example.com/blog/*', 'https://example.com/blog/post'],
  ['https://example.com/blog/*', 'https://example.com/blog/'],
  ['https://example.com/blog/*/edit', 'https://example.com/blog/post/edit'],
  ['https://example.com/blog/**', 'https://example.com/blog/2024/01/post'],
  ['https://example.com/**/edit', 'https://example.com/a/b/edit'],
  ['https://example.com/product-*', 'https://example.com/product-12'],
  ['https://*.example.com/**', 'https://shop.example.com/cart'],
  ['*://example.com/', 'http://example.com/'],
  ['https://example.com/*', 'https://example.com/'],
  ['**', 'https://example.com/any/page?x=1#y'],
  // A pattern may leave out the scheme, or scheme and host.
  ['example.com/blog/*', 'http://example.com/blog/post'],
  ['**/checkout', 'https://shop.example.com/eu/checkout'],
  ['/pricing', 'https://anything.example/pricing'],
  ['/', 'https://example.com'],
  ['/blog/*', '/blog/post'],
  // The case of scheme and host, a slash at the end, a query, a fragment and escapes make no difference.
  ['HTTPS://Example.com/pricing', 'https://EXAMPLE.com/pricing'],
  ['https://example.com', 'https://example.com/'],
  ['https://example.com/pricing', 'https://example.com/pricing/'],
  ['https://example.com/pricing/', 'https://example.com/pricing'],
  ['https://example.com/pricing', 'https://example.com/pricing?plan=pro#faq'],
  ['/café/*', 'https://example.com/caf%C3%A9/menu'],
  ['/caf%C3%A9/*', 'https://example.com/café/menu'],
  ['https://münchen.example/**', 'https://xn--mnchen-3ya.example/a'],
  ['https://example.com:8443/a', 'https://example.com:8443/a'],
  // A query counts if the pattern has one.
  ['/search?q=*', 'https://example.com/search?q=shoes'],
  ['https://example.com?ref=*', 'https://example.com/?ref=x'],
  ['/pricing?plan=*', 'https://example.com/pricing/?plan=a'],
  ['/pricing/?plan=*', 'https://example.com/pricing?plan=a'],
  ['/suche?q=größe', 'https://example.com/suche?q=größe'],
  ['/suche?q=gr%C3%B6%C3%9Fe', 'https://example.com/suche?q=größe'],
  ['example.com/go?to=https://a.b/**', 'https://example.com/go?to=https://a.b/c'],
  // Characters that are special in regular expressions match themselves.
  ['/a.b+(c)[d]$', 'https://example.com/a.b+(c)[d]$'],
])('url pattern: %s matches %s', (pattern, url) => {
  expect(matches(pattern, url)).toBe(true);
});

test.each([
  ['https://example.com/blog/*', 'https://example.com/blog'],
  ['https://example.com/blog/*', 'https://example.com/blog/2024/post'],
  ['https://example.com/blog/*', 'http://example.com/blog/post'],
  ['https://example.com/blog', 'https://example.com/blog/post'],
  ['https://example.com/blog', 'https://example.com.evil.example/blog'],
  ['https://*.example.com/**', 'https://example.com/cart'],
  ['https://*/admin', 'https://evil.example/x/admin'],
  ['example.com/a', 'https://www.example.com/a'],
  ['/pricing', 'https://example.com/Pricing'],
  ['/a.b', 'https://example.com/axb'],
  ['/search?q=*', 'https://example.com/search'],
  ['/search?a=1&b=2', 'https://example.com/search?a=1%26b=2'],
  ['https://example.com/a', '/a'],
])('url pattern: %s does not match %s', (pattern, url) => {
  expect(matches(pattern, url)).toBe(false);
});

test.each(['', '/a b', '/a#b', '/\n', `/${'a'.repeat(500)}`])(
  'url pattern: %j is refused, since no page could match',
  (pattern) => {
    expect(() => compileUrlPattern(pattern, 'field')).toThrow(PlanError);
  },
);

// With each of these, an engine that backtracks would exceed the test's timeout.
test.each([`/${'**a'.repeat(60)}`, `/${'*a'.repeat(60)}`, `/${'**/*'.repeat(60)}b`, `/${'*'.repeat(400)}b`])(
  'url pattern: %s takes bounded time on a long path that almost matches',
  (pattern) => {
    expect(matches(pattern, `https://example.com/${'a/'.repeat(3_000)}${'a'.repeat(3_000)}!`)).toBe(false);
  },
);

test('url pattern: any text is compiled or refused, and a compiled pattern can be matched with any url', () => {
  const characters = array(constantFrom('*', '/', '?', ':', '.', '\\', '[', '(', '{2}', '%', '\ud800', 'ü', '\\E'), {
    maxLength: 12,
  });
  assert(
    property(characters, anyText(), (pattern, url) => {
      const { address } = readPage({ url: `/${url}` });
      const answer = problemsOf(() => {
        const matches = compileUrlPattern(pattern.join(''), 'field');
        expect(typeof matches(address ?? { scheme: '', host: '', path: '', query: '' })).toBe('boolean');
      });
      expect(answer.length).toBe(pattern.length === 0 ? 1 : 0);
    }),
    { numRuns: 1_000 },
  );
});

test('url pattern: agrees with a simple implementation of its stars', () => {
  const letters = constantFrom('a', 'b', '/', '*', '**');
  assert(
    property(array(letters, { maxLength: 8 }), array(constantFrom('a', 'b', '/'), { maxLength: 8 }), (stars, path) => {
      const [pattern, text] = [`/${stars.join('')}x`, `/${path.join('')}x`];
      expect(compileUrlPattern(pattern, 'field')({ scheme: 'https', host: 'h', path: text, query: '' })).toBe(
        reads(pattern, text),
      );
    }),
    { numRuns: 500 },
  );
});

/** Whether a pattern matches a text, by the definition of stars alone; slow for long texts. */
function reads(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  if (!pattern.startsWith('*')) return text[0] === pattern[0] && reads(pattern.slice(1), text.slice(1));
  const stars = /^\*+/.exec(pattern)?.[0].length ?? 0;
  for (let taken = 0; taken <= text.length; taken += 1) {
    if (stars === 1 && text.slice(0, taken).includes('/')) return false;
    if (reads(pattern.slice(stars), text.slice(taken))) return true;
  }
  return false;
}
