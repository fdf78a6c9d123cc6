import type { RetryUse } from '../settlement/retry-quota.ts';

/** A retry log that has room for everything. */
export const unlimitedRetries: RetryUse = { used: 0, capacity: 2 ** 50, accounts: 0, destinationsOf: () => 1 };
