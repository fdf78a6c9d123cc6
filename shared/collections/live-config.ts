import type { AccountConfig } from '../contracts/config/account-config.ts';
import { readLiveCollections } from './read-live-collections.ts';
import type { LiveConfig } from './read-live-collections.ts';
import { collections } from './registry.ts';

/** Reads every collection of a published configuration. */
export function readLiveConfig(config: AccountConfig): LiveConfig {
  return readLiveCollections(config, collections);
}
