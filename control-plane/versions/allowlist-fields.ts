import { Type } from 'typebox';
import type { TProperties } from 'typebox';
import { idList, nullable } from '../../shared/contracts/config/define-collection.ts';
import { collectionOf } from '../../shared/collections/registry.ts';
import type { AnyCollection } from '../../shared/collections/registry.ts';
import { allowlistCollections } from './create-version.ts';

const idsMax = 10_000;

/** The fields that limit a new version to some entities of a collection, for each collection that is `offered`. */
export function allowlistFields(offered: (collection: AnyCollection) => boolean): TProperties {
  const fields = Object.entries(allowlistCollections).filter(([, collection]) => offered(collectionOf(collection)));
  return Object.fromEntries(
    fields.map(([name, collection]) => [
      name,
      Type.Optional(nullable(Type.Array(Type.String(), { ...idList(idsMax), description: `Ids of ${collection}.` }))),
    ]),
  );
}
