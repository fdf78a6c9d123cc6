import type { Withdrawals } from '../withdrawals.ts';

/** For accounts without purposes: announces nothing. */
export const noWithdrawals: Withdrawals = { changesOf: () => [], announce: () => Promise.resolve() };
