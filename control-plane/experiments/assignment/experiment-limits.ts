import { RateLimit } from '../../../shared/limits/index.ts';
import { defineSettings, fromEnv } from '../../../shared/runtime/settings.ts';
import { count } from '../../../shared/runtime/variables.ts';
import { OverBudgetError, Work } from '../../../shared/routing/values/work.ts';
import { badRequest, tooMany } from '../../api/api-error.ts';

/**
 * Costs that an account's visitors cause. They are limited because every page shows the token, and anyone who has it
 * can invent visitors. `lookups` read the database, `assignments` write a row, and `impressions` write an event; `work`
 * is the evaluation of visitors' pages, in units of `Work`.
 */
export const experimentCosts = ['lookups', 'assignments', 'impressions', 'work'] as const;
export type ExperimentCost = (typeof experimentCosts)[number];

export type ExperimentLimits = {
  /** Throws a 429 if the account exceeds its rate limit for this cost. */
  spend(cost: Exclude<ExperimentCost, 'work'>, accountId: string, nowMs: number): void;
  /**
   * Evaluates the page of a request and charges its account with the work. Throws a 429 if the account exceeds its rate
   * limit, and a 400 if this page alone exceeds the limit of one page.
   */
  look<Found>(accountId: string, nowMs: number, look: (work: Work) => Found): Found;
  /** Requests refused since the start; `page` counts those that exceeded the limit of one page. */
  readonly refused: Readonly<Record<ExperimentCost | 'page', number>>;
};

/** Rate limits of one account, per second; `pageWorkMax` is the limit of one page. */
export type ExperimentRates = Readonly<Record<ExperimentCost, number>> & { readonly pageWorkMax: number };

const accountsRemembered = 10_000;
/** Burst: the units of this many seconds may be used at once. */
const burstS = 2;

export function createExperimentLimits(rates: ExperimentRates): ExperimentLimits {
  const limitOf = (cost: ExperimentCost): RateLimit =>
    new RateLimit({ perS: rates[cost], burst: rates[cost] * burstS, ownersMax: accountsRemembered });
  const limits = {
    lookups: limitOf('lookups'),
    assignments: limitOf('assignments'),
    impressions: limitOf('impressions'),
    work: limitOf('work'),
  };
  const refused = { lookups: 0, assignments: 0, impressions: 0, work: 0, page: 0 };
  const refuse = (cost: ExperimentCost): Error => {
    refused[cost] += 1;
    return tooMany(`the account exceeds its rate limit for experiments: ${cost}, ${rates[cost]} per second`);
  };
  return {
    refused,
    spend(cost, accountId, nowMs) {
      if (limits[cost].take(accountId, 1, nowMs) > 0) throw refuse(cost);
    },
    look(accountId, nowMs, look) {
      // The cost of a page is known only after its evaluation, so an account may exceed its budget; its next pages are
      // then refused for a while.
      if (limits.work.waitMs(accountId, 0, nowMs) > 0) throw refuse('work');
      const work = new Work(rates.pageWorkMax);
      try {
        return look(work);
      } catch (error) {
        if (!(error instanceof OverBudgetError)) throw error;
        refused.page += 1;
        throw badRequest(`checking the page would exceed its limit of ${rates.pageWorkMax} units of work`);
      } finally {
        limits.work.charge(accountId, work.spent, nowMs);
      }
    },
  };
}

const assignments = {
  EXPERIMENT_ASSIGNMENTS_PER_S: count(
    'First assignments of one account per second. Its other limits follow: five times as many lookups (of visitors that were not looked up in the last 30 seconds, and for every personalization), 20 times as many impressions, and 20,000 times as many units of work for its pages. Requests above a limit get a 429',
    1_000,
  ),
};

export const { variables: experimentLimitsEnv, read: readExperimentLimits } = defineSettings({
  rates: {
    lookups: fromEnv(assignments, (env) => env.EXPERIMENT_ASSIGNMENTS_PER_S * 5),
    assignments: fromEnv(assignments),
    impressions: fromEnv(assignments, (env) => env.EXPERIMENT_ASSIGNMENTS_PER_S * 20),
    work: fromEnv(assignments, (env) => env.EXPERIMENT_ASSIGNMENTS_PER_S * 20_000),
    /** Maximum cost of one page, in characters read; each takes a few nanoseconds. */
    pageWorkMax: 2_000_000,
  },
  /** Maximum number of stored assignments of one account. */
  assignmentsMax: fromEnv({
    EXPERIMENT_ASSIGNMENTS_MAX: count(
      'Stored assignments of one account. Beyond the limit a visitor gets the variant that the algorithm computes, and it is not stored',
      10_000_000,
    ),
  }),
  /** Maximum number of visitors of all accounts that wait to be looked up or assigned; further ones get a 503. */
  visitorsWaitingMax: 5_000,
});
