import type { ConfigChange } from '../nats/buckets/config-feed.ts';
import type { Logger } from '../runtime/logger.ts';
import type { LiveConfig } from './live-config.ts';

/** Says which entities of a new configuration this build cannot read: one line each, by name, and never what they say. */
export function logUnreadable(
  logger: Logger,
  { accountId, config, revision }: Omit<ConfigChange<Pick<LiveConfig, 'unreadable'>>, 'bytes'>,
): void {
  for (const { collection, id, field, isDefaulted } of config?.unreadable ?? []) {
    const about = { accountId, revision, collection, id, field };
    if (isDefaulted)
      logger.warn(about, 'a field of a published entity cannot be read by this build; its default counts');
    else logger.error(about, 'a published entity cannot be read by this build; what it restricts stays shut');
  }
}
