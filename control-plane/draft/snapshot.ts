import { isDeepStrictEqual } from 'node:util';
import { collectionNames } from '../../shared/collections/registry.ts';
import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import type { CollectionName, Snapshot } from '../../shared/collections/registry.ts';

/** Creates a snapshot, collection by collection. */
export function buildSnapshot(entitiesOf: (collection: CollectionName) => readonly SnapshotEntity[]): Snapshot {
  return Object.fromEntries(collectionNames.map((name) => [name, entitiesOf(name)])) as Snapshot;
}

export const emptySnapshot: Snapshot = buildSnapshot(() => []);

export function indexById(entities: readonly SnapshotEntity[]): ReadonlyMap<string, SnapshotEntity> {
  return new Map(entities.map((entity) => [entity.id, entity]));
}

/** Whether two entities are equal, except for the order of keys and the time of creation. */
export function sameEntity(a: SnapshotEntity, b: SnapshotEntity): boolean {
  return isDeepStrictEqual({ ...a, createdAt: null }, { ...b, createdAt: null });
}

/** Removes experiments with the status Draft, which are never published, and variants without an experiment. */
export function withoutDraftExperiments(draft: Snapshot): Snapshot {
  const experiments = draft.experiments.filter((experiment) => experiment['status'] !== 'Draft');
  const kept = new Set(experiments.map(({ id }) => id));
  const experimentVariants = draft.experimentVariants.filter((variant) => kept.has(String(variant['experimentId'])));
  return { ...draft, experiments, experimentVariants };
}
