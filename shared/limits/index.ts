/**
 * The limits of all apps, each kind once:
 *
 * | Limit | Bounds | When exceeded |
 * | --- | --- | --- |
 * | `RateLimit` | units an owner uses over time | wait, or 429 with Retry-After |
 * | `ConcurrencyLimit` | units an owner uses at a time | 429 or 503 |
 * | `CostBudget` | work of an account in a thread that others need too | wait |
 * | quota (`isOverQuota`, `fairLevel`, `fairLimits`) | stored bytes | 429 for its sources, or oldest data removed |
 *
 * Settings and messages belong to the caller: a limit knows only numbers and owners.
 */
export { ConcurrencyLimit } from './concurrency-limit.ts';
export { CostBudget } from './cost-budget.ts';
export { fairLevel, fairLimits } from './fair-share.ts';
export { isOverQuota, keptOfQuota, quotaEnv, readQuotaSettings } from './quota.ts';
export type { QuotaSettings } from './quota.ts';
export { RateLimit } from './rate-limit.ts';
export type { Rate } from './rate-limit.ts';
