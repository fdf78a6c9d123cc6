import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { createUserHashCheck } from './user-hash.ts';

const hashOf = (secret: string, identifier: string): string =>
  createHmac('sha256', secret).update(identifier, 'utf8').digest('hex');

test('user hash: a hash is right only for its own identifier and secret, in lower or upper case', () => {
  const isRight = createUserHashCheck(() => 'secret');
  const hash = hashOf('secret', 'größe');
  expect([hash, hash.toUpperCase()].map((text) => isRight('größe', text))).toEqual([true, true]);
  const wrong = [hashOf('other', 'größe'), hashOf('secret', 'x'), hash.slice(1), `${hash}0`, '', 'g'.repeat(64)];
  expect(wrong.map((text) => isRight('größe', text))).toEqual(wrong.map(() => false));
});

test('user hash: without a secret no hash is right, not even one made with an empty secret', () => {
  const isRight = createUserHashCheck(() => undefined);
  for (const secret of ['', 'undefined', 'null']) expect(isRight('u', hashOf(secret, 'u'))).toBe(false);
});

test('user hash: the secret is read once, when the first hash is checked', () => {
  let asked = 0;
  const isRight = createUserHashCheck(() => {
    asked += 1;
    return 'secret';
  });
  expect(asked).toBe(0);
  for (let n = 0; n < 3; n += 1) isRight('u', hashOf('secret', 'u'));
  expect(asked).toBe(1);
});
