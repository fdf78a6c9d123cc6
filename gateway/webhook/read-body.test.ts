import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readMultipart } from './read-body.ts';
import type { ReadBody } from './read-body.ts';

const contentType = 'multipart/form-data; boundary=XX';

/** Heads of parts that are left out: files, and parts of no form. */
const leftOutHeads = [
  'Content-Disposition: form-data; name="f"; filename="photo.png"\r\nContent-Type: image/png',
  'Content-Disposition: form-data; name="f"\r\nContent-Type: application/octet-stream',
  'Content-Disposition: attachment; name="f"',
  'X-Other: 1',
];

type Part = { readonly head: string | undefined; readonly size: number };

const part: fc.Arbitrary<Part> = fc.record({
  head: fc.constantFrom(undefined, ...leftOutHeads),
  size: fc.constantFrom(1, 10, 16_383, 16_384, 16_385, 70_000, 200_000),
});
const parts = fc.array(part, { maxLength: 6 });

const written = (given: readonly Part[]): string =>
  given
    .map(({ head, size }, index) => {
      const of = head ?? `Content-Disposition: form-data; name="text-${index}"`;
      return `--XX\r\n${of}\r\n\r\n${'v'.repeat(size)}\r\n`;
    })
    .join('');

/** What a form was read as; undefined if it is not read in the turn of the event loop in which it was given. */
const readAtOnce = (form: string): Promise<ReadBody | undefined> =>
  Promise.race([
    readMultipart(Buffer.from(form), contentType),
    new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined))),
  ]);

test('read multipart: the texts of a form are read, however large the parts are that are left out', async () => {
  await fc.assert(
    fc.asyncProperty(parts, fc.constantFrom('--XX--', '--XX--\r\n', '--XX--\r\nafter'), async (given, end) => {
      const texts = given.flatMap(({ head, size }, index): [string, string][] =>
        head === undefined ? [[`text-${index}`, 'v'.repeat(size)]] : [],
      );
      expect(await readAtOnce(`${written(given)}${end}`)).toEqual({ value: Object.fromEntries(texts) });
    }),
  );
});

test('read multipart: a form that is cut or not valid is read or refused at once', async () => {
  const noise = fc.constantFrom('', 'before', '--XX\r\n', '--XX\r\nX: y\r\n', '--XX\r\n\r\n\r\n', '--XX--\r\n');
  await fc.assert(
    fc.asyncProperty(
      noise,
      parts,
      noise,
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (before, given, after, kept) => {
        const form = `${before}${written(given)}${after}--XX--`;
        expect(await readAtOnce(form.slice(0, Math.ceil(form.length * kept)))).toBeDefined();
      },
    ),
  );
});
