import { afterEach, expect, test, vi } from 'vitest';
import { stored } from './testing/planned-visitors.ts';
import { VisitorCache } from './visitor-cache.ts';
import { VisitorChanges } from './visitor-changes.ts';
import type { Queryable } from './visitor-statements.ts';

const accountId = '0d7c3c34-8a3f-4a58-9d55-6a8f6f0f6f10';
const minuteMs = 60_000;

afterEach(() => void vi.restoreAllMocks());

/** A cache with one visitor, and clocks that the test sets. PostgreSQL answers that nothing changed. */
async function openRig() {
  const clock = { monotonicMs: 1_000_000, wallMs: 1_700_000_000_000 };
  vi.spyOn(performance, 'now').mockImplementation(() => clock.monotonicMs);
  vi.spyOn(Date, 'now').mockImplementation(() => clock.wallMs);
  let onQuery = (): void => undefined;
  const row = { snapshot: '1:1:', server: 's', newest_erasure_ms: null, has_suppressions: false, account_ids: null };
  const query = (): Promise<unknown> => {
    onQuery();
    return Promise.resolve({ rows: [row] });
  };
  const cache = new VisitorCache(1_000_000);
  const changes = new VisitorChanges({ query } as Queryable, cache, 0);
  await changes.catchUp();
  const reading = cache.beginReading();
  cache.take(stored('v', { accountId }), reading);
  cache.endReading(reading);
  const suspend = (ms: number): void => {
    clock.wallMs += ms;
  };
  return {
    changes,
    suspend,
    pass: (ms: number): void => {
      clock.monotonicMs += ms;
      clock.wallMs += ms;
    },
    suspendAtQuery: (ms: number): void => {
      onQuery = () => suspend(ms);
    },
    isCurrent: (): boolean => {
      const found = cache.visitor(accountId, 'v');
      return found !== undefined && cache.isCurrent(found);
    },
  };
}

test('visitor changes: entries stay current while changes are read without a gap', async () => {
  const { changes, pass, isCurrent } = await openRig();
  for (let minute = 0; minute < 10; minute += 1) {
    pass(minuteMs);
    await changes.catchUp();
    expect(isCurrent()).toBe(true);
  }
  pass(minuteMs + 1);
  await changes.catchUp();
  expect(isCurrent()).toBe(false);
});

// While a virtual machine is suspended, its monotonic clock stands still, and others delete the changes it has not read.
test.each([10 * minuteMs, -10 * minuteMs])(
  'visitor changes: after the wall clock alone moved by %i ms, entries must be confirmed',
  async (ms) => {
    const { changes, suspend, isCurrent } = await openRig();
    suspend(ms);
    await changes.catchUp();
    expect(isCurrent()).toBe(false);
  },
);

test('visitor changes: after a suspension between the question and the answer, entries must be confirmed', async () => {
  const { changes, suspendAtQuery, isCurrent } = await openRig();
  suspendAtQuery(10 * minuteMs);
  await changes.catchUp();
  expect(isCurrent()).toBe(false);
});
