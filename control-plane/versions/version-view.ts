import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import type { VersionRow } from '../../shared/postgres/entities.ts';
import type { CollectionName } from '../../shared/collections/registry.ts';
import { collectionNames } from '../../shared/collections/registry.ts';

const instant = Type.String({ format: 'date-time' });

/** A version in answers: all fields are present, null if they have no value yet. */
export const versionReply = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  versionNumber: Type.Integer({ minimum: 1 }),
  isPublished: Type.Boolean({ description: 'Whether this is the version that is live.' }),
  notes: nullable(Type.String()),
  createdAt: instant,
  publishedAt: nullable({ ...instant, description: 'When it first went live; see the publications for each time.' }),
  publishedByUserId: nullable(Type.String()),
  publishedByUserName: nullable(Type.String()),
});

export function viewVersion(row: VersionRow, liveId: string | undefined): Record<string, unknown> {
  return {
    id: row.id,
    name: row.name,
    versionNumber: row.versionNumber,
    isPublished: row.id === liveId,
    notes: row.notes ?? null,
    createdAt: row.createdAt.toISOString(),
    publishedAt: row.publishedAt?.toISOString() ?? null,
    publishedByUserId: row.publishedByUserId ?? null,
    publishedByUserName: row.publishedByUserName ?? null,
  };
}

export const versionName = Type.String({ minLength: 1, maxLength: 250 });
export const versionNotes = Type.String({ maxLength: 10_000 });

const entry = Type.Object({
  id: Type.String(),
  name: Type.String({
    description: 'Empty if the entity has none; the same holds for type, summary and tagManagerId.',
  }),
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

/** Answer of a diff by field. */
export const changesReply = Type.Object({
  names: Type.Record(Type.String(), Type.String(), {
    description: 'Names, by id, of the entities whose ids are in changed fields. Entities without a name are left out.',
  }),
  changes: Type.Array(
    Type.Object({
      collection: Type.Enum([...collectionNames]),
      id: Type.String(),
      name: Type.String({ description: 'Empty if the entity has none.' }),
      label: nullable(Type.String({ description: 'The name of the kind of a source or a destination.' })),
      change: Type.Enum(['added', 'modified', 'removed']),
      changedAt: nullable({
        ...instant,
        description: 'When the entity was last changed in the draft; null if unknown, or if the key lacks audit:list.',
      }),
      changedBy: nullable(Type.String({ description: 'Name of the key or user that made this change.' })),
      fields: Type.Array(
        Type.Object({
          path: Type.String({
            description: 'Such as `settings.method`, or `mappings[total].map` for the item named total of a list.',
          }),
          old: Type.Optional(Type.Unknown({ description: 'Absent if the field did not exist.' })),
          new: Type.Optional(Type.Unknown({ description: 'Absent if the field no longer exists.' })),
        }),
      ),
    }),
  ),
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
