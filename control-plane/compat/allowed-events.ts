import { Type } from 'typebox';
import { allowedEventNameCharsMax, allowedEvents } from '../../shared/collections/allowed-events.ts';
import type { AllowedEventBody } from '../../shared/collections/allowed-events.ts';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities.ts';
import type { Queryable } from '../../shared/visitors/visitor-statements.ts';
import { conflict } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { changeSchema, changedFields } from '../api/returned-fields.ts';
import { entityFields } from '../collections/entity-schemas.ts';
import { createEntity, deleteEntity, edit, patchEntity } from '../draft/edit-entities.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { loadEntities, requireEntity } from '../draft/entity-store.ts';
import { knownIds } from './known-ids.ts';

const instant = Type.String({ format: 'date-time' });

/** An allowed event in a list, in the platform library's shape. */
const listed = Type.Object({
  ...entityFields,
  name: Type.String(),
  destinationIds: Type.Array(Type.String()),
  trigger: nullable(
    Type.String({ description: 'Where the event is fired; `description` in the configuration interface.' }),
  ),
});

/** A single allowed event: the members that it has in a list, and the times of its newest event and newest delivery. */
const whole = Type.Object({
  ...listed.properties,
  lastTriggeredAt: nullable({
    ...instant,
    description: 'Time of its newest event in the recent-events view; null if the view has none.',
  }),
  lastDispatchedAt: nullable({
    ...instant,
    description: 'Time of the newest delivery of these events to one of its destinations.',
  }),
});

const destinationIds = Type.Optional(
  nullable(
    Type.Array(Type.String(), { maxItems: 1_000, description: 'Ids that the account does not have are dropped.' }),
  ),
);

const changeFields = {
  name: Type.Optional(nullable(Type.String())),
  destinationIds,
  trigger: Type.Optional(allowedEvents.body.properties.description),
};

export const allowedEventEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/allowed-events',
    scope: 'allowedEvents:list',
    id: 'libraryListAllowedEvents',
    tag: 'Allowed events',
    summary: 'Every allowed event, newest first, except names that begin with $ other than $identify',
    reply: Type.Object({ entities: Type.Array(listed) }),
    async handle({ principal }, { storage }) {
      const rows = await loadEntities(storage.fork(), principal.accountId, 'allowedEvents');
      return { entities: rows.map(viewListed).filter(({ name }) => !isReserved(name)) };
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/allowed-events',
    scope: 'allowedEvents:create',
    id: 'libraryCreateAllowedEvent',
    tag: 'Allowed events',
    summary: 'Add an allowed event to the draft; 409 with the reason if the name is not allowed',
    body: Type.Object({ name: Type.String(), destinationIds }, { additionalProperties: false }),
    reply: whole,
    async handle({ body, principal }, services) {
      const row = await edit(services, principal, async (editing) =>
        createEntity(editing, allowedEvents, {
          name: checkName(body.name),
          destinationIds: await kept(editing, body.destinationIds ?? []),
        }),
      );
      return viewWhole(row, services.pool);
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/allowed-events/{id}',
    scope: 'allowedEvents:find',
    id: 'libraryGetAllowedEvent',
    tag: 'Allowed events',
    summary: 'Read an allowed event',
    reply: whole,
    async handle({ params, principal }, { storage, pool }) {
      const row = await requireEntity(storage.fork(), principal.accountId, 'allowedEvents', params.id);
      return viewWhole(row, pool);
    },
  }),
  defineEndpoint({
    method: 'PATCH',
    path: '/rest/v1/allowed-events/{id}',
    scope: 'allowedEvents:update',
    id: 'libraryUpdateAllowedEvent',
    tag: 'Allowed events',
    summary: 'Change fields of an allowed event; a list is replaced whole, a null name or list changes nothing',
    body: changeSchema(changeFields, whole),
    reply: whole,
    async handle({ params, body, principal }, services) {
      const row = await edit(services, principal, async (editing) => {
        const before = await requireEntity(editing.em, principal.accountId, 'allowedEvents', params.id);
        const { name, destinationIds: ids, trigger } = changedFields(changeFields, body, viewListed(before));
        return patchEntity(editing, allowedEvents, params.id, {
          ...(name === undefined || name === null ? {} : { name: checkName(name) }),
          ...(ids === undefined || ids === null ? {} : { destinationIds: await kept(editing, ids) }),
          ...(trigger === undefined ? {} : { description: trigger }),
        });
      });
      return viewWhole(row, services.pool);
    },
  }),
  defineEndpoint({
    method: 'DELETE',
    path: '/rest/v1/allowed-events/{id}',
    scope: 'allowedEvents:delete',
    id: 'libraryDeleteAllowedEvent',
    tag: 'Allowed events',
    summary: 'Remove an allowed event from the draft',
    reply: Type.Boolean(),
    async handle({ params, principal }, services) {
      await edit(services, principal, (editing) => deleteEntity(editing, allowedEvents, params.id));
      return true;
    },
  }),
];

const isReserved = (name: string): boolean => name.startsWith('$') && name !== '$identify';

/** The name without surrounding white space. Throws a 409 for an invalid name, as in the library's documents. */
function checkName(text: string): string {
  const name = text.trim();
  if (name === '') throw conflict('name must not be empty');
  if (name.length > allowedEventNameCharsMax) {
    throw conflict(`name must be at most ${allowedEventNameCharsMax} characters`);
  }
  if (isReserved(name))
    throw conflict('name must not begin with $, except $identify: such names are for events of the service');
  return name;
}

function kept({ em, principal }: Editing, ids: readonly string[]): Promise<readonly string[]> {
  return knownIds(em, principal.accountId, 'destinations', ids);
}

function viewListed(row: ConfigEntityRow) {
  const { name, destinationIds: ids, description } = { ...allowedEvents.defaults, ...row.body } as AllowedEventBody;
  return {
    id: row.id,
    name,
    destinationIds: ids,
    trigger: description,
    createdAt: row.createdAt.toISOString(),
    updatedAt: (row.updatedAt ?? row.createdAt).toISOString(),
  };
}

async function viewWhole(row: ConfigEntityRow, pool: Queryable): Promise<JsonObject> {
  const view = viewListed(row);
  const { rows } = await pool.query<{ triggered: Date | null; dispatched: Date | null }>(
    `select max(e.received_at) as triggered, max(o.at) as dispatched
     from recent_events e
     left join event_outcomes o on o.account_id = e.account_id and o.event_id = e.id and o.origin = e.origin and o.outcome = 'delivered'
       and o.destination_id = any($3::text[])
     where e.account_id = $1 and lower(e.name) = lower($2) and not e.test`,
    [row.accountId, view.name, view.destinationIds],
  );
  return {
    ...view,
    lastTriggeredAt: rows[0]?.triggered?.toISOString() ?? null,
    lastDispatchedAt: rows[0]?.dispatched?.toISOString() ?? null,
  };
}
