import { defineEntity } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import type { JsonObject } from '../../runtime/json.ts';

/** Who did what and when. Never a value: only which fields changed. */
export const AuditEntry = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_entries',
  properties: (p) => ({
    id: p.bigint('number').primary().autoincrement(),
    accountId: p.uuid(),
    at: p.datetime(3),
    actorId: p.text(),
    actorName: p.text(),
    action: p.text(),
    collection: p.text().nullable(),
    entityId: p.text().nullable(),
    details: p.json<JsonObject>(),
  }),
});

export type AuditEntryRow = InferEntity<typeof AuditEntry>;
