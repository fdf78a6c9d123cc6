import type { Withdrawals } from '../withdrawals.ts';

/** As for accounts without purposes: nothing is announced. */
export const noWithdrawals: Withdrawals = { changesOf: () => [], announce: () => Promise.resolve() };
