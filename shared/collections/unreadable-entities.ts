import type { ConfigChange } from '../nats/buckets/config-feed.ts';
import type { Logger } from '../runtime/logger.ts';
import { gauge } from '../runtime/metrics/define-metric.ts';
import type { MetricsPage } from '../runtime/metrics/metrics-page.ts';
import type { LiveConfig } from './read-live-collections.ts';

/** Metrics of configurations that a service could not read in full. */
export const configMetrics = {
  unreadableEntities: gauge(
    'sluice_config_unreadable_entities',
    'Published entities in force that this build cannot read, in the collections that the service reads. shut: the entity is left out, and everything that it restricts is refused; defaulted: the unreadable field restricts nothing and has its default',
    ['effect'],
  ),
};

type Effect = 'shut' | 'defaulted';

/**
 * Tracks which entities of the current configurations this build cannot read. The metric is a gauge, not a counter: a
 * document is read again after every start and reconnect, which must not count an entity twice.
 */
export type UnreadableEntities = {
  /**
   * Records an account's current configuration, or its removal. Logs each unreadable field in one line, by name and
   * without its content.
   */
  note(change: Omit<ConfigChange<Pick<LiveConfig, 'unreadable'>>, 'bytes' | 'upTo'>): void;
  count(effect: Effect): number;
};

export function createUnreadableEntities(logger: Logger): UnreadableEntities {
  // Accounts whose whole configuration was readable are left out.
  const byAccount = new Map<string, Readonly<Record<Effect, number>>>();
  return {
    note({ accountId, config, revision }) {
      const unreadable = config?.unreadable ?? [];
      for (const { collection, id, field, isDefaulted } of unreadable) {
        const about = { accountId, revision, collection, id, field };
        if (isDefaulted)
          logger.warn(about, 'a field of a published entity cannot be read by this build; using its default');
        else
          logger.error(about, 'this build cannot read a published entity; everything that it restricts stays blocked');
      }
      if (unreadable.length === 0) byAccount.delete(accountId);
      else byAccount.set(accountId, { shut: entitiesOf(unreadable, false), defaulted: entitiesOf(unreadable, true) });
    },
    count: (effect) => [...byAccount.values()].reduce((sum, counts) => sum + counts[effect], 0),
  };
}

export function showUnreadable(page: MetricsPage, { count }: Pick<UnreadableEntities, 'count'>): void {
  page.show(configMetrics.unreadableEntities, (add) => {
    for (const effect of ['shut', 'defaulted'] as const) add(count(effect), { effect });
  });
}

/** Number of unreadable entities. An entity with several unreadable fields counts once. */
function entitiesOf(unreadable: LiveConfig['unreadable'], isDefaulted: boolean): number {
  const listed = unreadable.filter((entity) => entity.isDefaulted === isDefaulted);
  return new Set(listed.map(({ collection, id }) => `${collection}/${id}`)).size;
}
