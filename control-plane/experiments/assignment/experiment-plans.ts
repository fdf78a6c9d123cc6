import type { ConfigTrust } from '../../../shared/contracts/config/signed-config.ts';
import { readLiveConfig } from '../../../shared/collections/live-config.ts';
import type { LiveConfig } from '../../../shared/collections/read-live-collections.ts';
import type { UnreadableEntities } from '../../../shared/collections/unreadable-entities.ts';
import { followConfig } from '../../../shared/nats/buckets/config-feed.ts';
import type { ConfigChange, ConfigFeed } from '../../../shared/nats/buckets/config-feed.ts';
import { hashSourceKey } from '../../../shared/contracts/config/account-config.ts';
import { isPlaceholder } from '../../../shared/contracts/events/placeholder-identifier.ts';
import { compileExperimentPlan } from '../../../shared/experiments/experiment-plan.ts';
import type { ExperimentPlan } from '../../../shared/experiments/experiment-plan.ts';
import type { ExperimentToken } from '../../../shared/experiments/experiment-tokens.ts';
import type { Bucket } from '../../../shared/nats/buckets/bucket.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { compileIdentityRules } from '../../../shared/visitors/identity-rules.ts';

/** A token, with the experiments in the live version of its account. */
export type OpenedPlan = {
  readonly plan: ExperimentPlan;
  readonly token: ExperimentToken;
  /** Whether an id identifies no visitor: a placeholder such as "anonymous", or one of the account's blocked values. */
  isNobody(visitorId: string): boolean;
};

/** The experiments of each account's live version. */
export type ExperimentPlans = {
  /** False until all configurations present at the start have been read; until then a valid token may be unknown. */
  readonly ready: boolean;
  /** Newest revision of the configuration that is applied; 0 before the first configuration. */
  readonly revision: number;
  find(token: string): OpenedPlan | undefined;
  /**
   * Follows the CONFIG bucket, instead of any bucket followed before. Configurations stay in use until this bucket
   * changes them.
   */
  follow(bucket: Bucket): Promise<void>;
  stop(): void;
};

/** Has no configuration until `follow` is called. */
export function createExperimentPlans(
  trust: ConfigTrust,
  logger: Logger,
  unreadable: Pick<UnreadableEntities, 'note'>,
): ExperimentPlans {
  const plans = new Map<string, ExperimentPlan>();
  const opened = new Map<string, OpenedPlan>();
  // Plans by token, not by the token's hash: hashing a token costs more than the rest of the lookup.
  const seen = new Map<string, OpenedPlan>();
  let feed: ConfigFeed | undefined;
  let ready = false;
  const apply = (change: ConfigChange<LiveConfig>): void => {
    const { accountId, config } = change;
    unreadable.note(change);
    const plan = config === undefined ? undefined : compileExperimentPlan(config);
    for (const hash of plans.get(accountId)?.tokens.keys() ?? []) opened.delete(hash);
    plans.delete(accountId);
    seen.clear();
    if (plan === undefined) return;
    plans.set(accountId, plan);
    const { isBlocked } = compileIdentityRules(config?.identity);
    const isNobody = (id: string): boolean => isPlaceholder(id) || isBlocked(id);
    for (const [hash, token] of plan.tokens) opened.set(hash, { plan, token, isNobody });
    for (const unplanned of plan.unplanned) logger.error({ accountId, ...unplanned }, 'an experiment cannot run');
  };
  return {
    get ready() {
      return ready;
    },
    get revision() {
      return feed?.revision ?? 0;
    },
    find(token) {
      const known = seen.get(token);
      if (known !== undefined) return known;
      const found = opened.get(hashSourceKey(token));
      if (found !== undefined) seen.set(token, found);
      return found;
    },
    async follow(bucket) {
      const previous = feed;
      feed = await followConfig(bucket, {
        trust,
        read: readLiveConfig,
        apply,
        onRejected: (accountId, revision, reason) =>
          logger.error({ accountId, revision, reason }, 'configuration rejected; the previous one stays in force'),
        onReady: () => {
          ready = true;
        },
      });
      previous?.stop();
    },
    stop: () => feed?.stop(),
  };
}
