import fc from 'fast-check';
import { expect, test } from 'vitest';
import { allowPreflight } from './preflight.ts';
import { anyText } from '../testing/any-text.ts';

const allow = (requestHeaders: string, requestPrivateNetwork = ''): Readonly<Record<string, string>> =>
  Object.fromEntries(allowPreflight({ requestHeaders, requestPrivateNetwork }, 'POST'));

test('preflight: exactly the headers that the request names are allowed', () => {
  expect(allow('sentry-trace,baggage, X-Datadog-Origin')['access-control-allow-headers']).toBe(
    'sentry-trace, baggage, X-Datadog-Origin',
  );
  expect(allow('')).not.toHaveProperty('access-control-allow-headers');
});

test('preflight: access to a private network is allowed if the request asks for access', () => {
  expect(allow('a', 'true')['access-control-allow-private-network']).toBe('true');
  expect(allow('a')).not.toHaveProperty('access-control-allow-private-network');
});

test('preflight: the answer lists valid header names of bounded total length, whatever the request contains', () => {
  const asked = fc.oneof(anyText(), fc.constantFrom('a\r\nset-cookie: b', 'a, b c, "d", é, e'));
  fc.assert(
    fc.property(asked, (text) => {
      const names = allow(text)['access-control-allow-headers'];
      if (names !== undefined) expect(names).toMatch(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+(, [!#$%&'*+.^_`|~0-9A-Za-z-]+)*$/);
    }),
  );
  const many = Array.from({ length: 2_000 }, (_, index) => `x-header-${index}`);
  const allowed = (allow(many.join(','))['access-control-allow-headers'] ?? '').split(', ');
  expect(allowed).toEqual(many.slice(0, allowed.length));
  expect(allowed.length).toBeGreaterThan(300);
  expect(allowed.join(',').length).toBeLessThanOrEqual(4096);
});
