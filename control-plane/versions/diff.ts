import { collectionOf } from '../../shared/collections/registry.ts';
import { textOf } from '../../shared/contracts/config/define-collection.ts';
import { collectionNames } from '../../shared/collections/registry.ts';
import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import type { CollectionName, Snapshot } from '../../shared/collections/registry.ts';
import { indexById, sameEntity } from '../draft/snapshot.ts';

/** How a diff shows an entity; text that an entity does not have is empty. */
export type DiffEntry = {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly summary: string;
  readonly tagManagerId: string;
};

export type CollectionDiff = {
  readonly added: readonly DiffEntry[];
  readonly removed: readonly DiffEntry[];
  readonly modified: readonly { readonly old: DiffEntry; readonly new: DiffEntry }[];
};

export type Diff = {
  readonly count: number;
  readonly differences: Readonly<Record<CollectionName, CollectionDiff>>;
};

export type EntityStatus = 'added' | 'modified' | 'removed' | null;

/** The changes of `target` against `baseline`. Pure. */
export function diffSnapshots(baseline: Snapshot, target: Snapshot): Diff {
  let count = 0;
  const entries = collectionNames.map((name): [CollectionName, CollectionDiff] => {
    const diff = diffCollection(name, baseline[name], target[name]);
    count += diff.added.length + diff.removed.length + diff.modified.length;
    return [name, diff];
  });
  return { count, differences: Object.fromEntries(entries) as Diff['differences'] };
}

/** The status of one entity, as in the diff. Pure. */
export function entityStatus(
  baseline: Snapshot,
  target: Snapshot,
  collection: CollectionName,
  id: string,
): EntityStatus {
  const before = baseline[collection].find((entity) => entity.id === id);
  const after = target[collection].find((entity) => entity.id === id);
  return statusOf(before, after);
}

export function statusOf(before: SnapshotEntity | undefined, after: SnapshotEntity | undefined): EntityStatus {
  if (before === undefined) return after === undefined ? null : 'added';
  if (after === undefined) return 'removed';
  return sameEntity(before, after) ? null : 'modified';
}

function diffCollection(
  name: CollectionName,
  baseline: readonly SnapshotEntity[],
  target: readonly SnapshotEntity[],
): CollectionDiff {
  const before = indexById(baseline);
  const after = indexById(target);
  const show = (entity: SnapshotEntity): DiffEntry => describeEntity(name, entity);
  return {
    added: target.filter(({ id }) => !before.has(id)).map(show),
    removed: baseline.filter(({ id }) => !after.has(id)).map(show),
    modified: target.flatMap((entity) => {
      const old = before.get(entity.id);
      return old === undefined || sameEntity(old, entity) ? [] : [{ old: show(old), new: show(entity) }];
    }),
  };
}

function describeEntity(name: CollectionName, entity: SnapshotEntity): DiffEntry {
  const { type, summary } = collectionOf(name).describe(entity);
  return { id: entity.id, name: textOf(entity['name']), type, summary, tagManagerId: textOf(entity['tagManagerId']) };
}
