import fc from 'fast-check';
import { expect, test } from 'vitest';
import { normalizeEmail, partitionOf } from './partition.ts';

test('partition: one visitor is always in one partition, whatever the event', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.string({ minLength: 1 }), fc.string(), fc.string(), (account, externalId, a, b) => {
      const first = partitionOf(account, { externalId, email: a, distinctId: a }, 16);
      const second = partitionOf(account, { externalId, email: b, distinctId: b }, 16);
      expect(first).toBe(second);
      expect(first).toBeGreaterThanOrEqual(0);
      expect(first).toBeLessThan(16);
    }),
  );
});

test('partition: an e-mail address counts in its normal form', () => {
  const of = (email: string): number => partitionOf('acc', { email, distinctId: 'x' }, 64);
  expect(of(' Ada@Example.COM ')).toBe(of('ada@example.com'));
  expect(normalizeEmail('  ')).toBeUndefined();
});

test('partition: visitors spread evenly', () => {
  const counts = Array.from({ length: 4 }, () => 0);
  for (let i = 0; i < 8_000; i += 1) {
    const partition = partitionOf('acc', { userId: `user-${i}`, distinctId: 'x' }, 4);
    counts[partition] = (counts[partition] ?? 0) + 1;
  }
  for (const count of counts) expect(Math.abs(count - 2_000)).toBeLessThan(200);
});
