import { expect, test } from 'vitest';
import { domainOnly, domainPathOnly, domainPathUtms, domainUtms, fakeDomain, fakeDomainRealPath } from './urls.ts';

const shortening = { domainOnly, domainPathOnly, domainPathUtms, domainUtms, fakeDomain, fakeDomainRealPath };

test.each([
  ['https://EXAMPLE.com/A b?utm_source=a+b&id=1', 'https://example.com/A%20b?utm_source=a+b'],
  ['example.com?utm_source=x', 'example.com/?utm_source=x'],
  ['www.example.co.uk:8080/a', 'www.example.co.uk:8080/a'],
  ['example.com', 'example.com/'],
  [' x.y/a ', 'x.y/a'],
  ['myapp://open', 'myapp://open/'],
  ['myapp://open/item?utm_campaign=c&token=t', 'myapp://open/item?utm_campaign=c'],
  ['https://[2001:db8::1]/a', 'https://[2001:db8::1]/a'],
  ['//example.com/a', undefined],
  ['javascript:alert(1)', undefined],
  ['mailto:ada@example.com', undefined],
  ['ada@example.com', undefined],
  ['data:text/plain,secret', undefined],
  ['file:///etc/passwd', undefined],
  ['localhost', undefined],
  ['', undefined],
])('urls: path and utms of %s: %s', (text, expected) => {
  expect(domainPathUtms(text, '')).toBe(expected);
});

test.each(Object.entries(shortening))('urls: %s: drops credentials, other parameters and the fragment', (_, change) => {
  const changed = change('https://ada:hunter2@example.org/a?email=ada&utm_source=x#token', '');
  expect(changed).toMatch(/^https:\/\//);
  expect(changed).not.toMatch(/ada|hunter2|token/);
});

test('urls: fake domain: the same host gets the same fake domain, whatever the path', () => {
  expect(fakeDomain('https://example.org/a', '')).toBe(fakeDomain('https://example.org/b?c=1', ''));
  expect(fakeDomain('https://example.org/a', '')).not.toBe(fakeDomain('https://example.net/a', ''));
  expect(fakeDomainRealPath('https://example.org/a/b?c=1', '')).toBe(
    `${fakeDomain('https://example.org', '') ?? ''}/a/b`,
  );
});
