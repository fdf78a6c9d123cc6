import { defineEntity } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';

/** Says that what an account runs has changed and must reach the CONFIG bucket. */
export const OutboxRow = defineEntity({
  name: 'OutboxRow',
  tableName: 'outbox',
  properties: (p) => ({
    id: p.bigint('number').primary().autoincrement(),
    accountId: p.uuid(),
    createdAt: p.datetime(3),
    pushedAt: p.datetime(3).nullable(),
    /** Revision of the bucket that holds this change. */
    revision: p.bigint('number').nullable(),
  }),
});

export type OutboxEntry = InferEntity<typeof OutboxRow>;
