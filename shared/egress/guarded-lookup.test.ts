import type { LookupAddress } from 'node:dns';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createEgressRules } from './egress-rules.ts';
import { createGuardedLookup } from './guarded-lookup.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Answer = { resolve(address: string): void; reject(error: Error): void };

/** A name server that answers on command. */
function createNameServer() {
  const asked: Answer[] = [];
  const lookup = createGuardedLookup(
    createEgressRules([]),
    () =>
      new Promise<readonly LookupAddress[]>((resolve, reject) => {
        asked.push({ resolve: (address) => resolve([{ address, family: 4 }]), reject });
      }),
  );
  const ask = (): Promise<string | undefined> =>
    lookup('shop.example', 443).then(
      ([first]) => first?.address,
      (error: Error) => error.message,
    );
  return { asked, ask };
}

test('guarded lookup: concurrent lookups of a name send one query, and the answer is cached for a while', async () => {
  const { asked, ask } = createNameServer();
  const answers = [ask(), ask()];
  asked[0]?.resolve('192.0.43.8');
  expect(await Promise.all(answers)).toEqual(['192.0.43.8', '192.0.43.8']);
  await vi.advanceTimersByTimeAsync(29_000);
  expect(await ask()).toBe('192.0.43.8');
  expect(asked).toHaveLength(1);
});

test('guarded lookup: a name server that hangs or fails does not delay a name that it has answered before', async () => {
  const { asked, ask } = createNameServer();
  const first = ask();
  asked[0]?.resolve('192.0.43.8');
  await first;
  await vi.advanceTimersByTimeAsync(31_000);
  expect(await ask()).toBe('192.0.43.8');
  expect(await ask()).toBe('192.0.43.8');
  expect(asked).toHaveLength(2);
  asked[1]?.reject(new Error('SERVFAIL'));
  await vi.advanceTimersByTimeAsync(31_000);
  expect(await ask()).toBe('192.0.43.8');
  asked[2]?.resolve('192.0.43.9');
  await vi.advanceTimersByTimeAsync(1);
  expect(await ask()).toBe('192.0.43.9');
});

test('guarded lookup: a cached answer that is too old is not used, and a failure is not cached', async () => {
  const { asked, ask } = createNameServer();
  const first = ask();
  asked[0]?.resolve('192.0.43.8');
  await first;
  await vi.advanceTimersByTimeAsync(601_000);
  const second = ask();
  asked[1]?.reject(new Error('SERVFAIL'));
  expect(await second).toBe('SERVFAIL');
  const third = ask();
  asked[2]?.resolve('127.0.0.1');
  expect(await third).toMatch(/no address is allowed/);
});
