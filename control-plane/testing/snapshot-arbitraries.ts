import * as fc from 'fast-check';
import { collectionNames } from '../../shared/collections/registry.ts';
import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import type { CollectionName, Snapshot } from '../../shared/collections/registry.ts';
import { buildSnapshot } from '../draft/snapshot.ts';

/** One edit of a draft. */
export type Edit = {
  readonly kind: 'put' | 'remove';
  readonly collection: CollectionName;
  readonly id: string;
  readonly value: number;
};

// Few ids and values, so that edits often concern the same entity: restored, removed twice, added and removed again.
const ids = ['a', 'b', 'c', 'd'];

export const anyEdit: fc.Arbitrary<Edit> = fc.record({
  kind: fc.constantFrom('put', 'remove'),
  collection: fc.constantFrom(...collectionNames),
  id: fc.constantFrom(...ids),
  value: fc.integer({ min: 0, max: 2 }),
});

export const anySnapshot: fc.Arbitrary<Snapshot> = fc.array(anyEdit, { maxLength: 60 }).map((edits) =>
  applyEdits(
    buildSnapshot(() => []),
    edits,
  ),
);

/** A draft after a sequence of edits. */
export function applyEdits(snapshot: Snapshot, edits: readonly Edit[]): Snapshot {
  const drafts = new Map(collectionNames.map((name) => [name, new Map(snapshot[name].map((one) => [one.id, one]))]));
  for (const { kind, collection, id, value } of edits) {
    if (kind === 'remove') drafts.get(collection)?.delete(id);
    else drafts.get(collection)?.set(id, entityOf(collection, id, value));
  }
  return buildSnapshot((name) => [...(drafts.get(name)?.values() ?? [])]);
}

/** An entity with only the fields that the diff shows. Value 2 makes an experiment a draft. */
export function entityOf(collection: CollectionName, id: string, value: number): SnapshotEntity {
  const status = collection === 'experiments' ? ['Running', 'Paused', 'Draft'][value] : 'Enabled';
  return {
    id,
    createdAt: new Date(0).toISOString(),
    name: `${id}${value}`,
    type: 'any',
    status,
    value,
    // Fields that the diff of at least one collection reads.
    destinationIds: [],
    properties: collection === 'experimentVariants' ? {} : [],
    categories: [],
    experimentId: id,
  };
}
