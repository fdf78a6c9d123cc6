import fc from 'fast-check';
import { expect, test } from 'vitest';
import { normalizeEmail, partitionOf, partitionOfText, partitionSeed, seededPartitionOf } from './partition.ts';

test('partition: one visitor is always in one partition, whatever the event', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.uuid(), fc.string(), fc.string(), (account, externalId, a, b) => {
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
  expect(normalizeEmail(' Ada@Example.COM ')).toBe('ada@example.com');
  expect(['  ', null, undefined].map(normalizeEmail)).toEqual([undefined, undefined, undefined]);
});

test('partition: an identifier has the same partition as text and as bytes, and depends on the account', () => {
  const seed = partitionSeed('acc');
  fc.assert(
    fc.property(fc.uuid(), fc.nat(5), fc.constantFrom(1, 16, 64), (userId, before, partitions) => {
      const bytes = Buffer.from(`${'"'.repeat(before)}${userId}"`);
      const identity = { userId, distinctId: 'x' };
      const partition = partitionOf('acc', identity, partitions);
      expect(partitionOfText(seed, bytes, before, bytes.length - 1, partitions)).toBe(partition);
      expect(seededPartitionOf(seed, identity, partitions)).toBe(partition);
    }),
  );
  const accounts = Array.from({ length: 50 }, (_, n) => partitionOf(`acc-${n}`, { userId: 'u', distinctId: 'x' }, 64));
  expect(new Set(accounts).size).toBeGreaterThan(10);
});

test('partition: visitors spread evenly', () => {
  const counts = Array.from({ length: 4 }, () => 0);
  for (let i = 0; i < 8_000; i += 1) {
    const partition = partitionOf('acc', { userId: `user-${i}`, distinctId: 'x' }, 4);
    counts[partition] = (counts[partition] ?? 0) + 1;
  }
  for (const count of counts) expect(Math.abs(count - 2_000)).toBeLessThan(200);
});

test('partition: a visitor identified only in userProperties has the partition of the same identifier at the top level', () => {
  const of = (identity: object, distinctId: string): number => partitionOf('acc', { ...identity, distinctId }, 64);
  for (let i = 0; i < 50; i += 1) {
    const email = `ada-${i}@example.com`;
    const externalId = `customer-${i}`;
    expect(of({ userProperties: { email: ` ${email.toUpperCase()}` } }, `e-${i}`)).toBe(of({ email }, 'x'));
    const both = { userProperties: { external_id: externalId, email } };
    expect(of(both, `e-${i}`)).toBe(of({ externalId }, 'x'));
    expect(of({ ...both, email: 'top@example.com' }, `e-${i}`)).toBe(of({ email: 'top@example.com' }, 'x'));
  }
});

test('partition: a placeholder identifier does not decide the partition', () => {
  const of = (identity: object): number => partitionOf('acc', { ...identity, distinctId: 'event-1' }, 64);
  expect(of({ userId: 'undefined', externalId: 'c-1' })).toBe(of({ externalId: 'c-1' }));
  expect(of({ userId: '0', externalId: 'null', email: 'a@b.c' })).toBe(of({ email: 'a@b.c' }));
  expect(of({ externalId: 'None', userProperties: { external_id: 'c-2' } })).toBe(of({ externalId: 'c-2' }));
  expect(of({ userId: '[object Object]', userProperties: { external_id: 'null', email: 5 } })).toBe(of({}));
});
