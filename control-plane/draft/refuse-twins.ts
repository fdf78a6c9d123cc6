import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import type { AnyCollection, Snapshot } from '../../shared/collections/registry.ts';
import { collections } from '../../shared/collections/registry.ts';
import { conflict } from '../api/api-error.ts';
import { foldText } from '../store/text.ts';

/**
 * Throws a 409 if a change of several entities leaves two in a collection that has one per account, or two with the
 * same unique name or field. A collection in which `before` already had two is not checked: the change did not cause it.
 */
export function refuseTwins(before: Snapshot, after: Snapshot): void {
  for (const collection of collections) {
    const problem = findTwins(collection, after[collection.name]);
    if (problem !== undefined && findTwins(collection, before[collection.name]) === undefined) throw conflict(problem);
  }
}

function findTwins(
  { noun, single, uniqueNames, uniqueFields }: AnyCollection,
  entities: readonly SnapshotEntity[],
): string | undefined {
  if (single && entities.length > 1) return `the account already has its ${noun}`;
  for (const field of uniqueNames ? ['name', ...uniqueFields] : uniqueFields) {
    const seen = new Set<string>();
    for (const { [field]: value } of entities) {
      if (typeof value !== 'string') continue;
      const compared = field === 'name' ? foldText(value) : value;
      if (seen.has(compared)) return `another ${noun} has this ${field}: ${value}`;
      seen.add(compared);
    }
  }
  return undefined;
}
