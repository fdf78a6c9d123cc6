import { Type } from 'typebox';
import { kindLabel } from '../../shared/collections/kind-labels.ts';
import { collectionNames } from '../../shared/collections/registry.ts';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { mayList } from '../keys/scopes.ts';
import { containsFolded, foldText } from '../store/text.ts';

type FoundEntity = {
  readonly collection: string;
  readonly id: string;
  readonly name: string | null;
  readonly type: string | null;
};

const foundMax = 20;

/** Searches the account's configuration with a single query; the account's quotas limit its size. */
export const searchEntities = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/search',
  // Any key may call it; a collection is searched only if the key may list it.
  scope: undefined,
  id: 'search',
  tag: 'Search',
  summary:
    'Find sources, destinations, mappings and all other configuration of the draft by a part of the name, by key, event ' +
    'name or id: up to 20, the closest first, of the collections that the key may list',
  query: Type.Object({ query: Type.String({ minLength: 1, maxLength: 250 }) }),
  reply: Type.Object({
    entities: Type.Array(
      Type.Object({
        collection: Type.Enum([...collectionNames]),
        id: Type.String(),
        name: Type.String({
          description: 'Its name; if it has none, its event name, the name of its kind, or its id.',
        }),
        type: nullable(Type.String({ description: 'The kind of a source or a destination.' })),
        label: nullable(Type.String({ description: 'The name of that kind.' })),
      }),
    ),
  }),
  async handle({ query, principal }, { storage }) {
    const listed = collectionNames.filter((name) => mayList(principal.scopes, name));
    if (listed.length === 0) return { entities: [] };
    const text = query.query.trim();
    const [part, folded] = [containsFolded(text), foldText(text)];
    const entities = await storage.fork().execute<FoundEntity[]>(
      `select collection, id, coalesce(body ->> 'name', body ->> 'eventName', body ->> 'event') as name, body ->> 'type' as type
       from entities where account_id = ? and collection in (${listed.map(() => '?').join(', ')})
         and (name_folded like ? or id = ? or body ->> 'key' = ? or lower(body ->> 'eventName') like ?)
       order by (name_folded = ?) desc nulls last, position(? in name_folded) = 1 desc nulls last, created_at desc, id
       limit ${foundMax}`,
      [principal.accountId, ...listed, part, text, text, part, folded, folded],
    );
    return { entities: entities.map(viewFound) };
  },
});

function viewFound({ collection, id, name, type }: FoundEntity) {
  const label = kindLabel(collection, type) ?? null;
  return { collection, id, name: name || (label ?? id), type, label };
}
