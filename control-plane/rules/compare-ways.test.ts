import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { createEncryption } from '../../shared/routing/modifications/encryption.ts';
import type { Way } from '../events/decide-ways.ts';
import { changeOf } from './compare-ways.ts';

const wayWith = (email: string | undefined, url = 'https://example.com/'): Way =>
  ({ request: { method: 'POST', url, headers: {}, body: JSON.stringify({ email }) } }) as Way;

test('impact: a value that is encrypted again is not a change, but another key or length is', () => {
  const encryptor = () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    return () => createEncryption({ publicKey, accountId: 'a', destinationId: 'd' });
  };
  const [first, second] = [encryptor(), encryptor()];
  const encrypted = wayWith(first()('ada@example.com', 'email'));
  expect(changeOf(encrypted, wayWith(first()('ada@example.com', 'email')))).toBeUndefined();
  expect(changeOf(encrypted, wayWith(first()('ada', 'email')))).toBe('changed');
  expect(changeOf(encrypted, wayWith(second()('ada@example.com', 'email')))).toBe('changed');
  expect(changeOf(encrypted, wayWith('ada@example.com'))).toBe('changed');
  const inUrl = () => wayWith(undefined, `https://example.com/?e=${first()('ada@example.com', 'email')}`);
  expect(changeOf(inUrl(), inUrl())).toBeUndefined();
  expect(changeOf(undefined, encrypted)).toBe('added');
  expect(changeOf(encrypted, undefined)).toBe('removed');
});
