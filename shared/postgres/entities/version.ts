import { defineEntity } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import type { StoredCollections } from '../../contracts/config/account-config.ts';

/** A snapshot of an account's configuration. Its content never changes. */
export const Version = defineEntity({
  name: 'Version',
  tableName: 'versions',
  properties: (p) => ({
    id: p.uuid().primary(),
    accountId: p.uuid(),
    versionNumber: p.integer(),
    name: p.text(),
    nameFolded: p.text(),
    notes: p.text().nullable(),
    notesFolded: p.text(),
    /** Loaded only where it is asked for: it can be large. */
    content: p.json<StoredCollections>().lazy(true, false),
    createdAt: p.datetime(3),
    publishedAt: p.datetime(3).nullable(),
    publishedByUserId: p.text().nullable(),
    publishedByUserName: p.text().nullable(),
  }),
});

export type VersionRow = InferEntity<typeof Version>;
