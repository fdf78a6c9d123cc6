import { defineEntity } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';

/** One customer of the installation; everything below belongs to one. */
export const Account = defineEntity({
  name: 'Account',
  tableName: 'accounts',
  properties: (p) => ({
    id: p.uuid().primary(),
    name: p.text(),
    /** The version gateways and pipelines run. */
    liveVersionId: p.uuid().nullable(),
    createdAt: p.datetime(3),
  }),
});

export type AccountRow = InferEntity<typeof Account>;
