import { defineEntity } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';

/** A key events are sent with. Sealed as well as hashed, because its owner may read it again. */
export const SourceKey = defineEntity({
  name: 'SourceKey',
  tableName: 'source_keys',
  properties: (p) => ({
    id: p.uuid().primary(),
    accountId: p.uuid(),
    sourceId: p.text(),
    test: p.boolean(),
    keyHash: p.text(),
    sealedKey: p.text(),
    createdAt: p.datetime(3),
    revokedAt: p.datetime(3).nullable(),
  }),
});

export type SourceKeyRow = InferEntity<typeof SourceKey>;
