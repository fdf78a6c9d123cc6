import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import type { ApiKeyRow } from '../../shared/postgres/entities/api-key.ts';

const instant = Type.String({ format: 'date-time' });

/** An API key as it is answered; the key itself is not part of it. */
export const keyReply = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  prefix: Type.String({ description: 'How the key begins, to recognise it by.' }),
  scopes: Type.Array(Type.String()),
  createdAt: instant,
  expiresAt: nullable(instant),
  revokedAt: nullable(instant),
  lastUsedAt: nullable(instant),
});

export function viewKey(row: ApiKeyRow): Record<string, unknown> {
  return {
    id: row.id,
    name: row.name,
    prefix: `slk_${row.kid}`,
    scopes: row.scopes,
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt?.toISOString() ?? null,
    revokedAt: row.revokedAt?.toISOString() ?? null,
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  };
}
