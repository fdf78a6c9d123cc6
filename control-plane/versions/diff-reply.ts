import { Type } from 'typebox';
import { collectionNames } from '../../shared/collections/registry.ts';
import type { CollectionName } from '../../shared/collections/registry.ts';

const entry = Type.Object({
  id: Type.String(),
  name: Type.String({ description: 'Empty where the entity has none, like type, summary and tagManagerId.' }),
  type: Type.String(),
  summary: Type.String(),
  tagManagerId: Type.String(),
});

const collectionDiff = Type.Object({
  added: Type.Array(entry),
  removed: Type.Array(entry),
  modified: Type.Array(Type.Object({ old: entry, new: entry })),
});

/** Answer of a diff: every collection is there. */
export const diffReply = Type.Object({
  count: Type.Integer({ minimum: 0 }),
  differences: Type.Object(Object.fromEntries(collectionNames.map((name) => [name, collectionDiff]))),
});

const notSupported: readonly CollectionName[] = ['experiments', 'experimentVariants'];

/** Collections whose entities have a draft status and can be reverted one by one. */
export const statusCollection = Type.Enum(collectionNames.filter((name) => !notSupported.includes(name)));

const count = Type.Integer({ minimum: 0 });

/** Answer of revert and abandon. */
export const undoReply = Type.Object({
  revertedCount: count,
  restoredCount: count,
  discardedCount: count,
  notFoundCount: count,
  remainingChanges: count,
});
