import { defineEntity } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';

/** A key of the configuration interface. Only the hash of its secret is kept. */
export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: (p) => ({
    id: p.uuid().primary(),
    accountId: p.uuid(),
    /** The public part of the key, by which it is looked up. */
    kid: p.text(),
    name: p.text(),
    /** SHA-256 of the whole key, lower-case hex. */
    secretHash: p.text(),
    scopes: p.array(),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3).nullable(),
    revokedAt: p.datetime(3).nullable(),
    lastUsedAt: p.datetime(3).nullable(),
  }),
});

export type ApiKeyRow = InferEntity<typeof ApiKey>;
