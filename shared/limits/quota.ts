import { defineSettings, fromEnv } from '../runtime/settings.ts';
import { count } from '../runtime/variables.ts';

/** How accounts divide the shared stores of the log, in fractions of a store from 0 to 1. */
export const { variables: quotaEnv, read: readQuotaSettings } = defineSettings({
  account: fromEnv(
    {
      LOG_ACCOUNT_SHARE_PERCENT: count(
        'Quota of one account in each shared store, even if there is room for more: its unresolved events in INGEST (above the quota its sources are answered with 429), the events that wait for its destinations in EVENTS, and everything that it stores in RETRY and DEAD_LETTERS. Use 100 if there is only one account',
        50,
        { unit: '%', minimum: 1, maximum: 100 },
      ),
    },
    (env) => env.LOG_ACCOUNT_SHARE_PERCENT / 100,
  ),
  /**
   * Fraction of INGEST, RETRY and DEAD_LETTERS that all accounts may fill. Above it, the accounts that store most are
   * limited first; the rest of the store is for accounts that store little.
   */
  all: 0.7,
});

export type QuotaSettings = ReturnType<typeof readQuotaSettings>;

/** An owner that was over its quota counts as within it again once it uses at most this fraction of the quota. */
const resumeFraction = 0.9;

/**
 * Whether an owner is over its quota. An owner that was over its quota stays so until it uses clearly less; otherwise
 * each event of an owner close to its quota could change the result.
 *
 * ```ts
 * isRefused = isOverQuota(bytes, quotaBytes, isRefused);
 * ```
 */
export const isOverQuota = (used: number, quota: number, wasOver: boolean): boolean =>
  used > (wasOver ? quota * resumeFraction : quota);

/** Size to cut a store to when it exceeds its quota: clearly less, so that the next message causes no further cut. */
export const keptOfQuota = (quota: number): number => quota * resumeFraction;
