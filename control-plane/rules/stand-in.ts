import { Type } from 'typebox';
import type { Static } from 'typebox';
import { allowedEvents } from '../../shared/collections/allowed-events.ts';
import { globalDispatchCenters } from '../../shared/collections/global-dispatch-centers.ts';
import { mappings } from '../../shared/collections/mappings.ts';
import { collectionOf } from '../../shared/collections/registry.ts';
import type { AnyCollection, Snapshot } from '../../shared/collections/registry.ts';
import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { createSchema } from '../collections/entity-schemas.ts';
import { refuseUnusable } from '../draft/check-entity.ts';

const standInFor = (collection: AnyCollection) =>
  Type.Optional(
    Type.Object(
      {
        id: Type.String({
          minLength: 1,
          maxLength: 64,
          description: `The id of the ${collection.noun} that it replaces. An id that the draft does not have adds a new one.`,
        }),
        fields: nullable(createSchema(collection)),
      },
      { additionalProperties: false, description: 'All fields of the entity; null: as if it were removed.' },
    ),
  );

/** Schemas of rules that are being edited, for each collection that decides what destinations get. */
export const standIns = {
  mappings: standInFor(mappings),
  globalDispatchCenters: standInFor(globalDispatchCenters),
  allowedEvents: standInFor(allowedEvents),
};

export type StandIns = { readonly [Name in keyof typeof standIns]?: Static<(typeof standIns)[Name]> };

/**
 * A draft with rules that are not stored, each in place of the rule that it would change. Throws a 400 that names the
 * field if a rule could not be stored as it is.
 */
export function withStandIns(draft: Snapshot, given: StandIns, now: Date): Snapshot {
  const changed = Object.entries(standIns).flatMap(([name]) => {
    const one = given[name as keyof StandIns];
    return one === undefined ? [] : [[name, standIn(collectionOf(name), draft, one, now)] as const];
  });
  return { ...draft, ...Object.fromEntries(changed) };
}

function standIn(
  collection: AnyCollection,
  draft: Snapshot,
  { id, fields }: NonNullable<StandIns[keyof StandIns]>,
  now: Date,
): readonly SnapshotEntity[] {
  const entities = draft[collection.name];
  const others = entities.filter((entity) => entity.id !== id);
  if (fields === null) return others;
  const body = { ...collection.defaults, ...fields };
  refuseUnusable(collection, body);
  // An account has at most one entity of such a collection: a new one is tried in place of it.
  const beside = collection.single ? [] : others;
  return [...beside, { ...body, id, createdAt: now.toISOString() }];
}
