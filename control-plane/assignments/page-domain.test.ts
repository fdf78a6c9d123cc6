import { expect, test } from 'vitest';
import { isPageAllowed } from './page-domain.ts';

test.each([
  [undefined, 'https://other.com', undefined, true],
  [['example.com'], undefined, undefined, true],
  [['example.com'], 'https://example.com', undefined, true],
  [['Example.com'], 'https://shop.example.com:8443', undefined, true],
  [['example.com'], undefined, 'https://example.com/page?q=1', true],
  [['example.com'], 'https://badexample.com', undefined, false],
  [['example.com'], 'https://other.com', 'https://example.com/', false],
  [['example.com'], 'null', undefined, false],
])('page domain: %j for origin %s and referer %s', (domains, origin, referer, allowed) => {
  expect(isPageAllowed(domains, origin, referer)).toBe(allowed);
});
