import { defineEntity } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import type { JsonObject } from '../../runtime/json.ts';

/** One entity of one collection as it is now: the rows of an account are its draft. */
export const ConfigEntity = defineEntity({
  name: 'ConfigEntity',
  tableName: 'entities',
  primaryKeys: ['accountId', 'collection', 'id'],
  properties: (p) => ({
    accountId: p.uuid().primary(),
    collection: p.text().primary(),
    id: p.text().primary(),
    /** The fields of the collection's schema, secrets sealed; without id and times. */
    body: p.json<JsonObject>(),
    /** The name in the form searches compare. */
    nameFolded: p.text(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3).nullable(),
  }),
});

export type ConfigEntityRow = InferEntity<typeof ConfigEntity>;
