import type { SnapshotEntity } from '../contracts/config/account-config.ts';
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

/** Every collection of a version, in the order of a diff. */
const registered = [
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
] as const;

export type Registered = (typeof registered)[number];
export type CollectionName = Registered['name'];

/** The type of a collection, for code that treats all collections alike. */
export type AnyCollection = Collection<CollectionName>;

/** The stored entities of a version or a draft by collection. */
export type Snapshot = Readonly<Record<CollectionName, readonly SnapshotEntity[]>>;

export const collectionNames: readonly CollectionName[] = registered.map(({ name }) => name);

export const collections: readonly AnyCollection[] = registered;

const byName: ReadonlyMap<string, AnyCollection> = new Map(
  collections.map((collection) => [collection.name, collection]),
);

export function isCollectionName(name: string): name is CollectionName {
  return byName.has(name);
}

/** The collection with this name, which is a CollectionName or the target of a reference. Throws for any other name. */
export function collectionOf(name: string): AnyCollection {
  const collection = byName.get(name);
  if (collection === undefined) throw new Error(`${name} is not a collection`);
  return collection;
}
