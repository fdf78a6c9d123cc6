import { collectionNames } from '../contracts/config/account-config.ts';
import type { CollectionName } from '../contracts/config/account-config.ts';
import { allowedEvents } from './allowed-events.ts';
import { consentSettings } from './consent-settings.ts';
import { dataGovernanceEvents, dataGovernanceRules } from './data-governance.ts';
import type { Collection } from '../contracts/config/define-collection.ts';
import { destinations } from './destinations.ts';
import { experimentSettings, experimentVariants, experiments } from './experiments.ts';
import { externalAllowedEventData } from './external-allowed-event-data.ts';
import { globalDispatchCenters } from './global-dispatch-centers.ts';
import { mappings } from './mappings.ts';
import { replaySettings } from './replay-settings.ts';
import { sources } from './sources.ts';
import { tagManagerTags, tagManagerTriggers, tagManagerVariables, tagManagers } from './tag-managers.ts';

const byName: Readonly<Record<CollectionName, Collection>> = {
  destinations,
  sources,
  allowedEvents,
  externalAllowedEventData,
  mappings,
  consentSettings,
  globalDispatchCenters,
  replaySettings,
  tagManagers,
  tagManagerTags,
  tagManagerTriggers,
  tagManagerVariables,
  dataGovernanceRules,
  dataGovernanceEvents,
  experimentSettings,
  experiments,
  experimentVariants,
};

/** Every collection there is. */
export const collections: readonly Collection[] = Object.values(byName);

export function isCollectionName(name: string): name is CollectionName {
  return (collectionNames as readonly string[]).includes(name);
}

/** The collection of a name. */
export function collectionOf(name: CollectionName): Collection {
  return byName[name];
}
