import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readFormData } from './form-data.ts';

const read = (body: string | Uint8Array): string | undefined => readFormData(Buffer.from(body))?.toString('latin1');
const text = '{"event":"Größe?","n":1}';
const base64 = Buffer.from(text).toString('base64');
const latin1 = Buffer.from(text).toString('latin1');

test.each([
  ['base64', `data=${encodeURIComponent(base64)}`],
  ['base64 whose pluses are not encoded', `data=${base64}`],
  ['base64 of addresses', `data=${Buffer.from(text).toString('base64url')}`],
  ['JSON', `data=${encodeURIComponent(text)}`],
  ['JSON behind other fields', `compression=&ver=1.2.0&data=${encodeURIComponent(text)}`],
])('form data: %s is read', (_name, body) => {
  expect(read(body)).toBe(latin1);
});

test('form data: bytes sent as base64 are read back unchanged', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), (bytes) => {
      const packed = Buffer.from(bytes).toString('base64');
      expect(readFormData(Buffer.from(`data=${encodeURIComponent(packed)}`))).toEqual(Buffer.from(bytes));
      expect(readFormData(Buffer.from(`data=${packed}`))).toEqual(Buffer.from(bytes));
    }),
  );
});

test.each(['', ' ', text, ` ${text}`, '[1]', 'data=', 'other=1', 'NaN', '"data=1"'])(
  'form data: %j is no form',
  (body) => {
    expect(read(body)).toBeUndefined();
  },
);
