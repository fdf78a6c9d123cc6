import fc from 'fast-check';
import { expect, test } from 'vitest';
import { passOversBySize } from './waiting-window.ts';

const reader = (name: string, waiting: number, ackedSeq = 0) => ({ name, waiting, ackedSeq, unacknowledged: 0 });

test('waiting window: only the reader that lags skips events, down to its quota; no other reader of any account does', () => {
  const accounts = [
    { readers: [reader('down', 1_000), reader('well', 2, 998)], meanBytes: 1_000 },
    { readers: [reader('other', 300)], meanBytes: 1_000 },
  ];
  expect(passOversBySize(accounts, { accountMax: 500_000, capacity: 900_000, lastSeq: 1_000 })).toEqual([
    { reader: 'down', upToSeq: 550 },
  ]);
  expect(passOversBySize(accounts, { accountMax: 2e6, capacity: 2e6, lastSeq: 1_000 })).toEqual([]);
});

test('waiting window: if all accounts together take too much, the accounts that take most skip first', () => {
  const accounts = [800, 600, 100].map((waiting, account) => ({
    readers: [reader(`d${account}`, waiting)],
    meanBytes: 1,
  }));
  const passed = passOversBySize(accounts, { accountMax: 1_000, capacity: 900, lastSeq: 10_000 });
  expect(passed.map((one) => one.reader)).toEqual(['d0', 'd1']);
});

test('waiting window: the kept events fit, and an account with no more than an equal share skips nothing', () => {
  const account = fc.record({
    meanBytes: fc.integer({ min: 1, max: 10_000 }),
    waiting: fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 1, maxLength: 5 }),
  });
  fc.assert(
    fc.property(
      fc.array(account, { minLength: 1, maxLength: 10 }),
      fc.integer({ min: 0, max: 1e8 }),
      (held, capacity) => {
        const lastSeq = 1_000_000;
        const accountMax = capacity / 2;
        const accounts = held.map(({ meanBytes, waiting }, index) => ({
          meanBytes,
          // The account's messages are spread evenly up to the end of the stream.
          readers: waiting.map((frames, nth) => reader(`${index}.${nth}`, frames)),
        }));
        const passed = new Map(
          passOversBySize(accounts, { accountMax, capacity, lastSeq }).map((one) => [one.reader, one.upToSeq]),
        );
        let total = 0;
        for (const { meanBytes, readers } of accounts) {
          const left = readers.map(({ name, waiting }) => (waiting * (lastSeq - (passed.get(name) ?? 0))) / lastSeq);
          const bytes = Math.max(...left) * meanBytes;
          total += bytes;
          expect(bytes).toBeLessThanOrEqual(accountMax + 1);
          for (const { name, waiting } of readers) {
            if (waiting * meanBytes <= Math.min(accountMax, capacity / accounts.length)) {
              expect(passed.has(name)).toBe(false);
            }
          }
        }
        expect(total).toBeLessThanOrEqual(capacity + accounts.length);
      },
    ),
  );
});
