import type { EntityManager } from '@mikro-orm/postgresql';
import type { EntityChange } from './list-changes.ts';

type Actor = { readonly changedAt: string | null; readonly changedBy: string | null };

export const unknownActor: Actor = { changedAt: null, changedBy: null };

/** Maximum number of entities for which the last change is looked up. */
const lookedUpMax = 500;

/** Who last changed each entity, from the audit trail. */
export async function lastActors(
  em: EntityManager,
  accountId: string,
  changes: readonly EntityChange[],
): Promise<(change: EntityChange) => Actor | undefined> {
  const ids = [...new Set(changes.map(({ id }) => id))].slice(0, lookedUpMax);
  if (ids.length === 0) return () => undefined;
  const rows = await em.execute<{ collection: string; id: string; at: string | Date; name: string }[]>(
    `select last.collection, wanted.id, last.at, last.actor_name as name
     from unnest(string_to_array(?, ',')) as wanted (id)
     cross join lateral (
       select distinct on (collection) collection, at, actor_name from audit_entries
       where account_id = ? and entity_id = wanted.id and collection is not null
         and action like any (array['%.create', '%.update', '%.delete'])
       order by collection, id desc
     ) last`,
    [ids.join(','), accountId],
  );
  const actors = new Map(
    rows.map(({ collection, id, at, name }) => [
      `${collection} ${id}`,
      { changedAt: new Date(at).toISOString(), changedBy: name },
    ]),
  );
  return ({ collection, id }) => actors.get(`${collection} ${id}`);
}
