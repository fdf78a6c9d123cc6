import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import type { VersionRow } from '../../shared/postgres/entities/version.ts';

const instant = Type.String({ format: 'date-time' });

/** A version as it is answered: every field is there, null where it has no value yet. */
export const versionReply = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  versionNumber: Type.Integer({ minimum: 1 }),
  isPublished: Type.Boolean({ description: 'Whether this is the version that is live.' }),
  notes: nullable(Type.String()),
  createdAt: instant,
  publishedAt: nullable(instant),
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
