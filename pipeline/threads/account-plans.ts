import { decodeAccountConfig } from '../../shared/contracts/config/account-config.ts';
import { readLiveConfig } from '../../shared/collections/live-config.ts';
import type { LiveConfig } from '../../shared/collections/live-config.ts';
import { findPublished } from '../../shared/routing/published-destinations.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import { compileFetch } from '../workers/dispatch/compile-fetch.ts';
import { compileTarget } from '../workers/dispatch/compile-target.ts';
import type { DispatchTarget } from '../workers/dispatch/dispatcher-context.ts';
import type { FetchUrls } from '../workers/dispatch/fetch-settings.ts';
import { dispatchedTo, noticeSources } from '../workers/dispatch/notice-sources.ts';
import { compileResolvePlan } from '../workers/resolve/resolve-plan.ts';
import { findVisitorReads } from '../workers/resolve/visitor-reads.ts';
import type { ResolvePlan } from '../workers/resolve/resolve-plan.ts';
import { compileResultsPlan } from '../workers/results/results-plan.ts';
import type { ResultsPlan } from '../workers/results/results-plan.ts';

/** What the actors of a thread run, compiled from the accounts' configurations. Plans are swapped whole. */
export type AccountPlans = {
  /** Takes an account's configuration; undefined: it was removed. Throws when it cannot be compiled; what ran runs on. */
  configure(accountId: string, document: Uint8Array | undefined): void;
  resolvePlan(accountId: string): ResolvePlan | undefined;
  /** Whether the account has a live version, and no other one does. */
  isOnly(accountId: string): boolean;
  target(accountId: string, destinationId: string): DispatchTarget | undefined;
  resultsPlan(accountId: string): ResultsPlan | undefined;
  /** Ids of what is dispatched to for an account: its destinations, and sources whose notices are followed. */
  dispatchedTo(accountId: string): readonly string[];
};

type Account = {
  readonly config: LiveConfig;
  readonly resolvePlan: ResolvePlan;
  /** Compiled when asked for: a thread runs few of an account's destinations. */
  readonly targets: Map<string, DispatchTarget | undefined>;
  /** Likewise. */
  results: { readonly plan: ResultsPlan | undefined } | undefined;
};

export function createAccountPlans(secrets: SecretBox, fetchUrls: FetchUrls): AccountPlans {
  const accounts = new Map<string, Account>();
  const compile = (config: LiveConfig, id: string): DispatchTarget | undefined => {
    const destination = findPublished(config, id);
    if (destination !== undefined) return compileTarget(config, destination, secrets);
    const source = noticeSources(config).find((one) => one.id === id);
    return source === undefined ? undefined : compileFetch(config, source, secrets, fetchUrls);
  };
  return {
    configure(accountId, document) {
      if (document === undefined) {
        accounts.delete(accountId);
        return;
      }
      const config = readLiveConfig(decodeAccountConfig(document));
      accounts.set(accountId, {
        config,
        resolvePlan: compileResolvePlan(config, () => findVisitorReads(config, secrets)),
        targets: new Map(),
        results: undefined,
      });
    },
    resultsPlan(accountId) {
      const account = accounts.get(accountId);
      if (account === undefined) return undefined;
      account.results ??= { plan: compileResultsPlan(account.config) };
      return account.results.plan;
    },
    dispatchedTo(accountId) {
      const account = accounts.get(accountId);
      return account === undefined ? [] : dispatchedTo(account.config).map(({ id }) => id);
    },
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
