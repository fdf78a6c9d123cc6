import { Type } from 'typebox';
import type { TProperties } from 'typebox';
import type { AnyCollection } from '../../shared/collections/registry.ts';
import { createEntity, deleteEntity, edit, patchEntity } from '../draft/edit-entities.ts';
import { entityPosition, listEntities, requireEntity } from '../draft/entity-store.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import type { Endpoint } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { createSchema, patchSchema, replySchema, viewEntity } from './entity-schemas.ts';

/** The five operations of a collection (create, read, update, delete, list), derived from its declaration. */
export function collectionEndpoints(collection: AnyCollection): Endpoint[] {
  const { name, noun } = collection;
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  const reply = replySchema(collection);
  const common = { tag: title };
  const list = `/rest/v1/collections/${name}` as const;
  const one = `${list}/{id}` as const;
  return [
    listEndpoint(collection, list, title),
    defineEndpoint({
      ...common,
      method: 'POST',
      path: list,
      scope: `${name}:create`,
      id: `create${title}`,
      summary: `Add a ${noun} to the draft`,
      body: createSchema(collection),
      reply,
      handle: async ({ body, principal }, services) =>
        viewEntity(collection, await edit(services, principal, (editing) => createEntity(editing, collection, body))),
    }),
    defineEndpoint({
      ...common,
      method: 'GET',
      path: one,
      scope: `${name}:find`,
      id: `get${title}`,
      summary: `Read a ${noun}`,
      reply,
      async handle({ params, principal }, { storage }) {
        const row = await requireEntity(storage.fork(), principal.accountId, name, params.id);
        return viewEntity(collection, row);
      },
    }),
    defineEndpoint({
      ...common,
      method: 'PATCH',
      path: one,
      scope: `${name}:update`,
      id: `update${title}`,
      summary: `Change fields of a ${noun}`,
      body: patchSchema(collection),
      reply,
      handle: async ({ params, body, principal }, services) =>
        viewEntity(
          collection,
          await edit(services, principal, (editing) => patchEntity(editing, collection, params.id, body)),
        ),
    }),
    defineEndpoint({
      ...common,
      method: 'DELETE',
      path: one,
      scope: `${name}:delete`,
      id: `delete${title}`,
      summary: `Remove a ${noun} from the draft`,
      reply: Type.Object({ deleted: Type.Literal(true) }),
      async handle({ params, principal }, services) {
        await edit(services, principal, (editing) => deleteEntity(editing, collection, params.id));
        return { deleted: true };
      },
    }),
  ];
}

function listEndpoint(collection: AnyCollection, path: string, title: string): Endpoint {
  const { name, noun, filters } = collection;
  const narrowing: TProperties = {};
  for (const field of filters) {
    const schema = collection.body.properties[field];
    if (schema !== undefined) narrowing[field] = Type.Optional(schema);
  }
  if (collection.body.properties['name'] !== undefined) {
    narrowing['nameContains'] = Type.Optional(Type.String({ maxLength: 250 }));
  }
  return defineEndpoint({
    method: 'GET',
    path,
    scope: `${name}:list`,
    id: `list${title}`,
    tag: title,
    summary: `List every ${noun}, newest first`,
    query: Type.Object({ ...narrowing, ...pageQuery }),
    reply: pageOf(replySchema(collection)),
    async handle({ query, principal }, { storage, paginator }) {
      const { accountId } = principal;
      const given = query as Record<string, string | undefined>;
      const equals = Object.fromEntries(filters.map((field) => [field, given[field]]));
      const nameContains = given['nameContains'];
      const identity = { list: name, accountId, filters: { ...equals, nameContains } };
      const { limit, after } = paginator.read(query, identity);
      const rows = await listEntities(
        storage.fork(),
        accountId,
        name,
        { equals, nameContains },
        { limit: limit + 1, after },
      );
      return paginator.page(identity, limit, rows, entityPosition, (row) => viewEntity(collection, row));
    },
  });
}
