import { decodeAccountConfig } from '../../shared/contracts/config/account-config.ts';
import { readLiveConfig } from '../../shared/collections/live-config.ts';
import type { LiveConfig } from '../../shared/collections/read-live-collections.ts';
import { findPublished } from '../../shared/routing/published-destinations.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import { compileFetch } from '../workers/dispatch/compile-fetch.ts';
import { compileTarget } from '../workers/dispatch/compile-target.ts';
import type { DispatchTarget } from '../workers/dispatch/admission/dispatch-target.ts';
import type { FetchUrls } from '../workers/dispatch/fetch-settings.ts';
import { dispatchedTo, noticeSources } from '../workers/dispatch/notice-sources.ts';
import { compileResolvePlan } from '../workers/resolve/resolve-plan.ts';
import { findVisitorReads } from '../workers/resolve/visitor-reads.ts';
import type { ResolvePlan } from '../workers/resolve/resolve-plan.ts';
import { compileResultsPlan } from '../workers/results/results-plan.ts';
import type { ResultsPlan } from '../workers/results/results-plan.ts';

/**
 * Compiled plans of the accounts' configurations, which the actors of a thread run. An account's plans are always
 * replaced together.
 */
export type AccountPlans = {
  /**
   * Applies an account's configuration; removes the account if `document` is undefined. Throws if the configuration
   * does not compile; the old plans stay.
   */
  configure(accountId: string, document: Uint8Array | undefined): void;
  resolvePlan(accountId: string): ResolvePlan | undefined;
  /** Whether this account, and no other, has a live version. */
  isOnly(accountId: string): boolean;
  target(accountId: string, destinationId: string): DispatchTarget | undefined;
  resultsPlan(accountId: string): ResultsPlan | undefined;
  /** Number of the account's destinations, including sources whose notices are followed. */
  destinationsOf(accountId: string): number;
  /** The account whose live version has a destination; undefined if no account has it. */
  accountOf(destinationId: string): string | undefined;
};

type Account = {
  readonly config: LiveConfig;
  /** Ids of destinations and followed sources. */
  readonly destinations: readonly string[];
  readonly resolvePlan: ResolvePlan;
  /** Compiled on first use, because a thread runs few of an account's destinations. */
  readonly targets: Map<string, DispatchTarget | undefined>;
  /** Compiled on first use, like a destination's plan. */
  results: { readonly plan: ResultsPlan | undefined } | undefined;
};

export function createAccountPlans(secrets: SecretBox, fetchUrls: FetchUrls): AccountPlans {
  const accounts = new Map<string, Account>();
  const accountOf = new Map<string, string>();
  const forget = (accountId: string): void => {
    for (const id of accounts.get(accountId)?.destinations ?? []) accountOf.delete(id);
    accounts.delete(accountId);
  };
  const compile = (config: LiveConfig, id: string): DispatchTarget | undefined => {
    const destination = findPublished(config, id);
    if (destination !== undefined) return compileTarget(config, destination, secrets);
    const source = noticeSources(config).find((one) => one.id === id);
    return source === undefined ? undefined : compileFetch(config, source, secrets, fetchUrls);
  };
  return {
    configure(accountId, document) {
      if (document === undefined) {
        forget(accountId);
        return;
      }
      const config = readLiveConfig(decodeAccountConfig(document));
      const destinations = dispatchedTo(config).map(({ id }) => id);
      const resolvePlan = compileResolvePlan(config, () => findVisitorReads(config, secrets), secrets);
      forget(accountId);
      accounts.set(accountId, { config, destinations, resolvePlan, targets: new Map(), results: undefined });
      for (const id of destinations) accountOf.set(id, accountId);
    },
    resultsPlan(accountId) {
      const account = accounts.get(accountId);
      if (account === undefined) return undefined;
      account.results ??= { plan: compileResultsPlan(account.config) };
      return account.results.plan;
    },
    destinationsOf: (accountId) => accounts.get(accountId)?.destinations.length ?? 0,
    accountOf: (destinationId) => accountOf.get(destinationId),
    isOnly: (accountId) => accounts.size === 1 && accounts.has(accountId),
    resolvePlan: (accountId) => accounts.get(accountId)?.resolvePlan,
    target(accountId, destinationId) {
      const account = accounts.get(accountId);
      if (account === undefined) return undefined;
      if (!account.targets.has(destinationId)) {
        account.targets.set(destinationId, compile(account.config, destinationId));
      }
      return account.targets.get(destinationId);
    },
  };
}
