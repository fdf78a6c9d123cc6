import { expect, test, vi } from 'vitest';
import type { LogBuckets } from '../publishing/log-buckets.ts';
import { createLogSearches } from './log-searches.ts';
import type { SearchReport } from './log-searches.ts';

/** Searches that wait for erasures until their client disconnects, so they never read the log. */
function startSearches() {
  const untilCurrent = (signal: AbortSignal) =>
    new Promise<void>((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(new Error('ended')), { once: true }),
    );
  const failures: unknown[] = [];
  const searches = createLogSearches({
    logBuckets: {} as LogBuckets,
    erasures: { isEventErased: () => false, untilCurrent },
    onFailure: (error) => failures.push(error),
  });
  const begin = (accountId: string) => {
    const reports: SearchReport[] = [];
    const query = { accountId, match: { by: 'event', id: 'e' }, fromMs: undefined, toMs: undefined } as const;
    const leave = searches.of(query, [], () => Promise.resolve([])).subscribe((report) => reports.push(report));
    return { leave, status: () => reports.at(-1)?.status };
  };
  return { begin, failures };
}

test('log searches: an account runs one search at a time, which ends when its reader disconnects', async () => {
  const { begin, failures } = startSearches();
  const first = begin('a');
  expect([first.status(), begin('a').status(), begin('b').status()]).toEqual(['running', 'refused', 'running']);
  first.leave();
  await vi.waitFor(() => expect(begin('a').status()).toBe('running'));
  expect(failures).toEqual([]);
});

test('log searches: all accounts together run at most four searches at a time', () => {
  const { begin } = startSearches();
  const statuses = ['a', 'b', 'c', 'd', 'e'].map((accountId) => begin(accountId).status());
  expect(statuses).toEqual(['running', 'running', 'running', 'running', 'refused']);
});
