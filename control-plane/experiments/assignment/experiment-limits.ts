import type { Static, TObject } from 'typebox';
import { LRUCache } from 'lru-cache';
import { TokenBucket } from '../../../shared/admission/token-bucket.ts';
import { count } from '../../../shared/runtime/variables.ts';
import { tooMany } from '../../api/api-error.ts';

/**
 * What visitors of one account may cost: whoever knows a token, which stands in every page, can make up any number of
 * them. `lookups` read the database, `assignments` write a row, `impressions` an event.
 */
export const experimentCosts = ['lookups', 'assignments', 'impressions'] as const;
export type ExperimentCost = (typeof experimentCosts)[number];

export type ExperimentLimits = {
  /** Throws a 429 where the account has spent what it may of this a second. */
  spend(cost: ExperimentCost, accountId: string, nowMs: number): void;
  /** Refused since the start. */
  readonly refused: Readonly<Record<ExperimentCost, number>>;
};

const accountsRemembered = 10_000;
/** How many seconds of a rate may be spent at once. */
const burstS = 2;

/** `perS`: what one account may spend a second. */
export function createExperimentLimits(perS: Readonly<Record<ExperimentCost, number>>): ExperimentLimits {
  const buckets = new LRUCache<string, TokenBucket>({ max: accountsRemembered * experimentCosts.length });
  const refused = { lookups: 0, assignments: 0, impressions: 0 };
  return {
    refused,
    spend(cost, accountId, nowMs) {
      const key = `${cost} ${accountId}`;
      let bucket = buckets.get(key);
      if (bucket === undefined) buckets.set(key, (bucket = new TokenBucket(perS[cost], perS[cost] * burstS, nowMs)));
      if (bucket.take(1, nowMs) === 0) return;
      refused[cost] += 1;
      throw tooMany(`the account has spent its ${cost} of experiments, ${perS[cost]} a second`);
    },
  };
}

export const experimentLimitsEnv = {
  EXPERIMENT_LOOKUPS_PER_S: count(
    'Visitors of one account looked up a second for their variants: those not asked for in the last half minute, and every personalization. More get a 429',
    5_000,
  ),
  EXPERIMENT_ASSIGNMENTS_PER_S: count('First assignments of one account a second; more get a 429', 1_000),
  EXPERIMENT_IMPRESSIONS_PER_S: count('Impressions of one account a second; more get a 429', 20_000),
  EXPERIMENT_ASSIGNMENTS_MAX: count(
    'Assignments stored of one account. Beyond, a visitor is told the variant that the algorithm gives, and it is not stored',
    10_000_000,
  ),
  EXPERIMENT_WAITING_MAX: count(
    'Visitors that wait to be looked up or assigned, of all accounts; more get a 503',
    5_000,
  ),
};

export function readExperimentRates(
  env: Static<TObject<typeof experimentLimitsEnv>>,
): Readonly<Record<ExperimentCost, number>> {
  return {
    lookups: env.EXPERIMENT_LOOKUPS_PER_S,
    assignments: env.EXPERIMENT_ASSIGNMENTS_PER_S,
    impressions: env.EXPERIMENT_IMPRESSIONS_PER_S,
  };
}
