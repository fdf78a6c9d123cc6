import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { httpDestination } from './http-destination/destination.ts';
import { createSecretMasker, isSecretName, secretSettings, secretsInRequest } from './mask-secrets.ts';

const secret = `s€cret/"+<k&y>'0123`;
const mask = '********';

const textOf = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength, maxLength });
const secretsIn = fc.array(textOf(3, 8), { minLength: 1, maxLength: 3 });

/** The text with `*` for each character of a secret. */
function covered(secrets: readonly string[], given: string): string {
  const isSecret = (at: number): boolean =>
    secrets.some((one) =>
      Array.from(one, (_, before) => at - before).some((start) => start >= 0 && given.startsWith(one, start)),
    );
  return Array.from(given, (character, at) => (isSecret(at) ? '*' : character)).join('');
}

const short = (masked: string): string => masked.replaceAll(/\*+/g, '*');

describe('mask', () => {
  const { text } = createSecretMasker([secret]);
  const base64 = (before: string): string => Buffer.from(`${before}${secret} behind`).toString('base64');
  test.each([
    ['as it is', secret],
    ['in JSON', JSON.stringify({ key: secret })],
    ['in JSON with escaped slashes', JSON.stringify({ key: secret }).replaceAll('/', '\\/')],
    ['in JSON of ASCII only', JSON.stringify({ key: secret }).replaceAll('€', '\\u20ac')],
    ['in a URL', `https://example.com/${encodeURIComponent(secret)}/x`],
    ['in a URL, lower case', `https://example.com/${encodeURIComponent(secret).toLowerCase()}/x`],
    ['in a form', new URLSearchParams({ key: secret }).toString()],
    ['in HTML', `<b>${secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</b>`],
    ['in capitals', secret.toUpperCase()],
    ['in hexadecimal', Buffer.from(secret).toString('hex')],
    ['in base64', base64('')],
    ['in base64, one byte in', base64('a')],
    ['in base64, two bytes in', base64('ab')],
    ['in base64 for URLs', Buffer.from(`abc${secret}`).toString('base64url')],
  ])('a secret %s is masked', (_name, echoed) => {
    const masked = text(`before ${echoed} after`);
    expect(masked).toContain(mask);
    expect(masked).not.toMatch(/0123|30313233|MDEyM|AxMj|wMTIz/);
    expect(masked.startsWith('before ')).toBe(true);
    expect(masked.endsWith(' after')).toBe(true);
  });

  test('a secret within another secret: the whole of the longer secret is masked', () => {
    expect(createSecretMasker(['abcd', 'abcdefgh']).text('x abcdefgh y abcd')).toBe(`x ${mask} y ${mask}`);
  });

  test('a secret that overlaps another, or itself: nothing of either is left', () => {
    expect(createSecretMasker(['abcd', 'cdefgh']).text('x abcdefgh y')).toBe(`x ${mask} y`);
    expect(createSecretMasker(['abab']).text('x ababab y')).toBe(`x ${mask} y`);
  });

  test('secrets that contain or overlap one another: each of their characters is masked, and no other', () => {
    fc.assert(
      fc.property(secretsIn, textOf(0, 30), (secrets, given) => {
        expect(short(createSecretMasker(secrets).text(given))).toBe(short(covered(secrets, given)));
      }),
    );
  });

  test('a text that was cut: nothing is left of a secret that continued after the cut', () => {
    fc.assert(
      fc.property(secretsIn, textOf(0, 30), fc.nat(30), (secrets, given, cutAt) => {
        const masked = createSecretMasker(secrets).text(given.slice(0, cutAt), true);
        expect(short(covered(secrets, given)).startsWith(short(masked))).toBe(true);
      }),
    );
    const masker = createSecretMasker(['PPPabcQQQQQQ', 'abc']);
    expect(masker.text(`${'.'.repeat(40)}PPPabcQQQQQ`, true)).toMatch(/^\.+$/);
  });

  test('a secret of two characters: is masked if it is a whole value, but not inside a word', () => {
    const short = createSecretMasker(['ok']);
    expect(short.text('ok')).toBe(mask);
    expect(short.text('{"pin":"ok","text":"a book"}')).toBe(`{"pin":"${mask}","text":"a book"}`);
  });

  test('no secrets: nothing changes', () => {
    expect(createSecretMasker([]).text('as it was')).toBe('as it was');
  });
});

test('mask: the values of headers and parameters with secret names are masked, whatever they are', () => {
  const { headers, url } = createSecretMasker([]);
  expect(
    headers({
      authorization: 'Bearer abc',
      'x-api-key': 'abc',
      'set-cookie': 'a=b',
      'idempotency-key': 'id',
      date: 'x',
    }),
  ).toEqual({
    authorization: `Bearer ${mask}`,
    'x-api-key': mask,
    'set-cookie': mask,
    'idempotency-key': 'id',
    date: 'x',
  });
  expect(url('https://me:pw@example.com/a%20b?x=1%2B1&api_key=abc&y#f')).toBe(
    `https://${mask}@example.com/a%20b?x=1%2B1&api_key=${mask}&y#f`,
  );
});

test.each(['Authorization', 'x-api-key', 'access_token', 'apiSecret', 'password', 'X-Signature-256', 'key', 'sig'])(
  'secret names: %s is secret',
  (name) => expect(isSecretName(name)).toBe(true),
);

test.each(['idempotency-key', 'content-type', 'utm_keyword', 'design', 'traceparent'])(
  'secret names: %s is not secret',
  (name) => expect(isSecretName(name)).toBe(false),
);

test('secrets of settings: each secret, its members, and the parts of a credential are found', () => {
  const basic = Buffer.from('me:pass').toString('base64');
  const found = secretSettings(httpDestination, {
    httpDestinationUrl: 'https://example.com/',
    headers: JSON.stringify({ Authorization: `Basic ${basic}`, 'X-Token': 'tok', 'Content-Type': 'text/x' }),
    signingSecret: 'sign',
  });
  expect(found).toEqual(expect.arrayContaining([basic, 'me:pass', 'pass', 'tok', 'sign']));
  expect(found).not.toContain('text/x');
  expect(found).not.toContain('https://example.com/');
});

test('secrets of settings: a secret that looks like JSON of 100,000 levels is one secret', () => {
  const signingSecret = `${'['.repeat(100_000)}"a"${']'.repeat(100_000)}`;
  expect(secretSettings(httpDestination, { signingSecret })).toEqual([signingSecret]);
});

test('secrets of a request: the signature, and credentials, keys and users in the URL are found', () => {
  const found = secretsInRequest({
    method: 'POST',
    url: 'https://us%40er:pw@example.com/?key=abc%20d&q=1',
    headers: { 'x-signature-256': 'sha256=ff', accept: '*/*' },
    body: undefined,
  });
  expect(found).toEqual(['us@er', 'pw', 'sha256=ff', 'abc d']);
});
