import { defineSettings, fromEnv } from '../runtime/settings.ts';
import { count } from '../runtime/variables.ts';

/** How accounts divide the shared stores of the log, in fractions of a store from 0 to 1. */
export const { variables: quotaEnv, read: readQuotaSettings } = defineSettings({
  account: fromEnv(
    {
      LOG_ACCOUNT_SHARE_PERCENT: count(
        'Quota of one account in each shared store, however much room there is: in INGEST its unresolved events, past which its sources are answered 429; in EVENTS the events that wait for its destinations; in RETRY and DEAD_LETTERS all it has there. 100 where there is one account',
        50,
        { unit: '%', minimum: 1, maximum: 100 },
      ),
    },
    (env) => env.LOG_ACCOUNT_SHARE_PERCENT / 100,
  ),
  /**
   * Fraction of INGEST, RETRY and DEAD_LETTERS that accounts may fill; above it those with most give way. The rest is
   * for accounts with little.
   */
  all: 0.7,
});

export type QuotaSettings = ReturnType<typeof readQuotaSettings>;

/** Fraction of its quota below which an owner that was over it is within it again. */
const resumeFraction = 0.9;

/**
 * Whether an owner is over its quota: above it, or, once it was over, until it has clearly less. So an owner at its quota
 * is not refused and accepted again with each event.
 *
 * ```ts
 * isRefused = isOverQuota(bytes, quotaBytes, isRefused);
 * ```
 */
export const isOverQuota = (used: number, quota: number, wasOver: boolean): boolean =>
  used > (wasOver ? quota * resumeFraction : quota);

/** Size of a store after a cut to its quota: clearly less, so that it is not cut again with each message. */
export const keptOfQuota = (quota: number): number => quota * resumeFraction;
